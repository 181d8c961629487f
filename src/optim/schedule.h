// Learning-rate schedules.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "config/fields.h"

namespace trainyard {

/// The inputs of a schedule. t counts finished epochs or steps, from 0.
struct ScheduleContext {
  double base = 0;  // the optimizer's learning rate
  std::int64_t epochs = 1;
  std::int64_t steps_per_epoch = 1;
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The learning rate of the step after `step` finished steps. Pure.
  [[nodiscard]] virtual double rate(std::int64_t step, const ScheduleContext& context) const = 0;
  /// Whether it starts below its full learning rate.
  [[nodiscard]] virtual bool warms_up() const { return false; }
};

[[nodiscard]] std::span<const config::Kind<Schedule>> schedule_kinds();

}  // namespace trainyard

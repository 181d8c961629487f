// Learning-rate schedules (semantics.md section 3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "config/fields.h"

namespace trainyard {

/// What a schedule may depend on. t counts finished epochs or steps, 0 at the start.
struct ScheduleContext {
  double base = 0;  // the optimizer's rate
  std::int64_t epochs = 1;
  std::int64_t steps_per_epoch = 1;
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The rate of the update that follows `step` finished updates. Pure.
  [[nodiscard]] virtual double rate(std::int64_t step, const ScheduleContext& context) const = 0;
  /// Whether it begins below the rate that it is for.
  [[nodiscard]] virtual bool warms_up() const { return false; }
};

[[nodiscard]] std::span<const config::Kind<Schedule>> schedule_kinds();

}  // namespace trainyard

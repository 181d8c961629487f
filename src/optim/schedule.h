// Learning-rate schedules.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "config/fields.h"

namespace trainyard {

/// The inputs of a schedule. t counts finished epochs or steps, from 0.
struct ScheduleContext {
  double base = 0;  // the optimizer's learning rate
  std::int64_t epochs = 1;
  std::int64_t steps_per_epoch = 1;
  std::int64_t before = 0;  // steps of the run before this schedule's t = 0, in a chain
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The learning rate of the step after `step` finished steps. Pure. Throws Error{config} for an
  /// expression that has no value at this step.
  [[nodiscard]] virtual double rate(std::int64_t step, const ScheduleContext& context) const = 0;
  /// The steps after which its warm-up ends; 0: it has none.
  [[nodiscard]] virtual std::int64_t warmup_steps(std::int64_t /*steps_per_epoch*/) const {
    return 0;
  }
  /// Whether it starts below its full learning rate.
  [[nodiscard]] bool warms_up() const {
    constexpr std::int64_t kMany = 1'000'000'000;  // so that a small part of an epoch is a step
    return warmup_steps(kMany) > 0;
  }
  /// The steps after which the last of its parts or boundaries applies; 0: it has none.
  [[nodiscard]] virtual std::int64_t last_part(std::int64_t /*steps_per_epoch*/) const { return 0; }
  /// Its own length in steps, if the file gives one: how long it lasts in a chain.
  [[nodiscard]] virtual std::optional<std::int64_t> length(std::int64_t /*steps_per_epoch*/) const {
    return std::nullopt;
  }
};

/// Computes the learning rates of a run's steps (of a long run those of evenly spaced ones and of
/// the last), so that an expression without a value ends a run before it begins. Throws as
/// Schedule::rate().
void check_rates(const Schedule& schedule, const ScheduleContext& context);

[[nodiscard]] std::span<const config::Kind<Schedule>> schedule_kinds();

}  // namespace trainyard

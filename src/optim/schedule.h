// Learning-rate schedules, what those that are functions of time share (the unit of time and the
// warm-up), and the fall of the learning rate on a plateau.
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
  double base = 0;         // the optimizer's learning rate
  std::int64_t steps = 1;  // length of the run
  std::int64_t steps_per_epoch = 1;
  std::int64_t before = 0;  // steps of the run before this schedule's t = 0, in a chain

  /// Steps and epochs from t = 0 to the end of the run, which may lie within the last epoch.
  [[nodiscard]] std::int64_t rest() const { return steps - before; }
  [[nodiscard]] std::int64_t epochs_of_rest() const {
    return (steps + steps_per_epoch - 1) / steps_per_epoch - before / steps_per_epoch;
  }
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

/// When and by how much the learning rate falls as a metric stops improving: Keras 2.1's
/// ReduceLROnPlateau.
struct PlateauPolicy {
  double factor = 0.1;
  std::int64_t patience = 10;  // epochs without improvement before the rate falls
  double min_delta = 1e-4;     // smallest change that counts as an improvement
  std::int64_t cooldown = 0;   // epochs after a fall in which none is counted
  double min_rate = 0;         // below it the learning rate does not fall further
  bool larger_is_better = false;
};

/// Its state after some epochs; saved with the run.
struct PlateauState {
  double factor = 1;           // on every learning rate of the schedule
  std::optional<double> best;  // empty: no epoch yet, or none with a finite value
  std::int64_t waited = 0;     // epochs without improvement
  std::int64_t cooldown = 0;   // epochs left of it
};

/// The state after an epoch with this value of the metric, whose last step had learning rate
/// `rate`. A value that is not a number changes nothing.
[[nodiscard]] PlateauState after_epoch(const PlateauPolicy& rule, const PlateauState& state,
                                       double value, double rate);

/// The schedule's learning rate, multiplied by the factor, but not below `min_rate`, unless the
/// schedule's own is below it.
[[nodiscard]] double plateau_rate(const PlateauState& state, double min_rate, double scheduled);

/// The unit that t counts.
enum class TimeUnit { epoch, step };
[[nodiscard]] constexpr config::Words<TimeUnit> words(TimeUnit) { return {"epoch", "step"}; }

/// How a warm-up rises: (s / W) to the power 1 (Goyal et al. 2017, section 2.2), 2 (NVIDIA's
/// Caffe) or 4 (Darknet's burn_in), or not at all before its end (He et al. 2016, section 4.2).
enum class WarmupForm { linear, quadratic, power4, constant };
[[nodiscard]] constexpr config::Words<WarmupForm> words(WarmupForm) {
  return {"linear", "quadratic", "power4", "constant"};
}

/// Warm-up over the first epochs or steps: the learning rate of step s < W is
/// from + (r - from) * f(s / W), with r the schedule's own value at that step and f the form. So
/// the curve has no jump at W, unless the form is constant, and a run shorter than its warm-up
/// still trains. The schedule's own t counts from its start.
struct Warmup {
  double epochs = 0;
  std::int64_t steps = 0;
  double from = 0;  // learning rate at step 0
  WarmupForm form = WarmupForm::linear;
};
void declare(config::Fields& fields, Warmup& warmup);

/// A schedule given by a function of t, the base learning rate and the length of the run.
class TimedSchedule : public Schedule {
 public:
  [[nodiscard]] double rate(std::int64_t step, const ScheduleContext& context) const final;
  [[nodiscard]] std::int64_t warmup_steps(std::int64_t steps_per_epoch) const final;
  [[nodiscard]] std::int64_t last_part(std::int64_t steps_per_epoch) const final;
  [[nodiscard]] std::optional<std::int64_t> length(std::int64_t steps_per_epoch) const final;

 protected:
  /// Declares `length`, `by` and `warmup`; call it after the schedule's own keys.
  void declare_time(config::Fields& fields, TimeUnit unit = TimeUnit::epoch);
  /// The learning rate at t finished epochs or steps, at most `total`; `total` is `length`, or the
  /// run's (the rest of it in a chain) in the same unit.
  [[nodiscard]] virtual double at(double t, double total, double base) const = 0;
  /// The last t at which the file says that it changes; 0: it does not.
  [[nodiscard]] virtual double last_boundary() const { return 0; }

 private:
  [[nodiscard]] double main_rate(std::int64_t step, const ScheduleContext& context) const;

  TimeUnit by_ = TimeUnit::epoch;
  std::optional<std::int64_t> length_;  // in units of by_
  Warmup warmup_;
};

}  // namespace trainyard

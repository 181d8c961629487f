// Shared by all schedules: the unit of time and the warm-up.
#pragma once

#include <cstdint>
#include <span>

#include "config/fields.h"
#include "optim/schedule.h"

namespace trainyard {

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

// Shared by all schedules: the unit of time and the warm-up.
#pragma once

#include <cstdint>
#include <span>

#include "config/fields.h"
#include "optim/schedule.h"

namespace trainyard {

/// The unit that t counts.
enum class TimeUnit { epoch, step };
[[nodiscard]] std::span<const config::Word<TimeUnit>> words(TimeUnit);

/// Linear warm-up over the first epochs or steps (Goyal et al. 2017, section 2.2): the learning
/// rate of step s < W is from + (r - from) * s / W, with r the schedule's own value at that step.
/// So the curve has no jump at W, and a run shorter than its warm-up still trains. The schedule's
/// own t counts from the start of the run.
struct Warmup {
  double epochs = 0;
  std::int64_t steps = 0;
  double from = 0;  // learning rate at step 0
};
void declare(config::Fields& fields, Warmup& warmup);

/// A schedule given by a function of t, the base learning rate and the length of the run.
class TimedSchedule : public Schedule {
 public:
  [[nodiscard]] double rate(std::int64_t step, const ScheduleContext& context) const final;
  [[nodiscard]] bool warms_up() const final { return warmup_.epochs > 0 || warmup_.steps > 0; }

 protected:
  /// Declares `by` and `warmup`; call it after the schedule's own keys.
  void declare_time(config::Fields& fields);
  /// The learning rate at t finished epochs or steps; `total` is the run's length in the same unit.
  [[nodiscard]] virtual double at(double t, double total, double base) const = 0;

 private:
  [[nodiscard]] double main_rate(std::int64_t step, const ScheduleContext& context) const;

  TimeUnit by_ = TimeUnit::epoch;
  Warmup warmup_;
};

}  // namespace trainyard

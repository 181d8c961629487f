#include "optim/timed_schedule.h"

#include <cmath>

namespace trainyard {

std::span<const config::Word<TimeUnit>> words(TimeUnit) {
  static constexpr config::Word<TimeUnit> kWords[] = {{TimeUnit::epoch, "epoch"},
                                                      {TimeUnit::step, "step"}};
  return kWords;
}

void declare(config::Fields& fields, Warmup& warmup) {
  fields.field("epochs", warmup.epochs, "length in epochs; fractions are allowed", {.minimum = 0});
  fields.field("steps", warmup.steps, "length in steps", {.minimum = 0});
  fields.field("from", warmup.from, "learning rate at the first step", {.minimum = 0});
  if (warmup.epochs > 0 && warmup.steps > 0) {  // a resolved config has both, one of them 0
    fields.error("steps", "'epochs' and 'steps' exclude each other; remove one of them");
  }
}

void TimedSchedule::declare_time(config::Fields& fields) {
  fields.field("by", by_, "what t counts: finished epochs or finished steps");
  fields.field("warmup", warmup_, "linear warm-up; the learning rate changes every step");
}

double TimedSchedule::main_rate(std::int64_t step, const ScheduleContext& context) const {
  const bool by_step = by_ == TimeUnit::step;
  const std::int64_t t = by_step ? step : step / context.steps_per_epoch;
  const std::int64_t total = by_step ? context.epochs * context.steps_per_epoch : context.epochs;
  return at(static_cast<double>(t), static_cast<double>(total), context.base);
}

double TimedSchedule::rate(std::int64_t step, const ScheduleContext& context) const {
  const std::int64_t length =
      warmup_.steps + std::llround(warmup_.epochs * static_cast<double>(context.steps_per_epoch));
  if (step >= length) return main_rate(step, context);
  const double part = static_cast<double>(step) / static_cast<double>(length);
  return warmup_.from + (main_rate(step, context) - warmup_.from) * part;
}

}  // namespace trainyard

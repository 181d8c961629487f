#include "optim/timed_schedule.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

void declare(config::Fields& fields, Warmup& warmup) {
  fields.field("epochs", warmup.epochs, "length in epochs; fractions are allowed", {.minimum = 0});
  fields.field("steps", warmup.steps, "length in steps", {.minimum = 0});
  fields.field("from", warmup.from, "learning rate at the first step", {.minimum = 0});
  fields.field("form", warmup.form, "how it rises; constant: it is 'from' until the end");
  if (warmup.epochs > 0 && warmup.steps > 0) {  // a resolved config has both, one of them 0
    fields.error("steps", "'epochs' and 'steps' exclude each other; remove one of them");
  }
}

namespace {

/// f of Warmup at part = s / W < 1.
double risen(WarmupForm form, double part) {
  switch (form) {
    case WarmupForm::linear:
      return part;
    case WarmupForm::quadratic:
      return part * part;
    case WarmupForm::power4:
      return part * part * part * part;
    case WarmupForm::constant:
      return 0;
  }
  return part;
}

}  // namespace

void TimedSchedule::declare_time(config::Fields& fields, TimeUnit unit) {
  by_ = unit;
  fields.field("length", length_,
               "T, in units of 'by', at which t stops; in a chain: how long this schedule lasts; "
               "default: the rest of the run",
               {.minimum = 1});
  fields.field("by", by_, "what t counts: finished epochs or finished steps");
  fields.field("warmup", warmup_, "a rise at the start; the learning rate changes every step");
}

std::optional<std::int64_t> TimedSchedule::length(std::int64_t steps_per_epoch) const {
  if (!length_) return std::nullopt;
  return *length_ * (by_ == TimeUnit::step ? 1 : steps_per_epoch);
}

double TimedSchedule::main_rate(std::int64_t step, const ScheduleContext& context) const {
  const bool by_step = by_ == TimeUnit::step;
  const std::int64_t t = by_step ? step : step / context.steps_per_epoch;
  const std::int64_t rest = by_step ? context.epochs * context.steps_per_epoch - context.before
                                    : context.epochs - context.before / context.steps_per_epoch;
  const std::int64_t total = length_.value_or(rest);
  return at(static_cast<double>(std::min(t, total)), static_cast<double>(total), context.base);
}

std::int64_t TimedSchedule::warmup_steps(std::int64_t steps_per_epoch) const {
  return warmup_.steps + std::llround(warmup_.epochs * static_cast<double>(steps_per_epoch));
}

std::int64_t TimedSchedule::last_part(std::int64_t steps_per_epoch) const {
  constexpr double kMost = 1e15;
  const double unit = by_ == TimeUnit::step ? 1 : static_cast<double>(steps_per_epoch);
  return static_cast<std::int64_t>(std::min(last_boundary() * unit, kMost));
}

double TimedSchedule::rate(std::int64_t step, const ScheduleContext& context) const {
  const std::int64_t length = warmup_steps(context.steps_per_epoch);
  if (step >= length) return main_rate(step, context);
  const double part = risen(warmup_.form, static_cast<double>(step) / static_cast<double>(length));
  return warmup_.from + (main_rate(step, context) - warmup_.from) * part;
}

}  // namespace trainyard

#include "optim/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "config/expression.h"
#include "config/load.h"
#include "optim/schedule_curves.h"

namespace trainyard {
namespace {

bool improves(const PlateauPolicy& rule, double value, const std::optional<double>& best) {
  if (!best) return std::isfinite(value);
  return rule.larger_is_better ? value > *best + rule.min_delta : value < *best - rule.min_delta;
}

}  // namespace

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
  const std::int64_t rest = by_step ? context.rest() : context.epochs_of_rest();
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

namespace {

config::Node real(double value) {
  config::Node node;
  node.kind = config::Node::Kind::real;
  node.real = value;
  return node;
}
config::Node whole(std::int64_t value) {
  config::Node node = real(static_cast<double>(value));
  node.kind = config::Node::Kind::integer;
  node.integer = value;
  return node;
}

/// A formula: `expression: $base * 0.95**epoch`.
class Expression final : public Schedule {
 public:
  explicit Expression(config::Fields& fields) {
    fields.required("lr", formula_,
                    "learning rate as an expression: $base * 0.95**epoch. Names: base, the "
                    "optimizer's; epoch, step: those finished; epochs, steps: those of the run");
    formula_.where = fields.where("lr");
  }
  [[nodiscard]] std::string_view name() const override { return "expression"; }
  /// After the run's last step the value at that step: a formula need not have one there.
  [[nodiscard]] double rate(std::int64_t step, const ScheduleContext& context) const override {
    const std::int64_t per_epoch = context.steps_per_epoch;
    step = std::min(step, context.rest() - 1);
    const config::Scope scope{{"base", real(context.base)},
                              {"step", whole(step)},
                              {"steps", whole(context.rest())},
                              {"epoch", whole(step / per_epoch)},
                              {"epochs", whole(context.epochs_of_rest())}};
    config::Diagnostics diagnostics;
    const config::Node value = config::evaluate(formula_, scope, diagnostics);
    diagnostics.raise();
    if (value.is_number() && std::isfinite(value.real) && value.real >= 0) return value.real;
    diagnostics.error(formula_.where, "the learning rate must be a number of at least 0, found " +
                                          config::describe(value) + " after " +
                                          count_text(step, "step"));
    diagnostics.raise();
    return 0;
  }

 private:
  config::Node formula_;
};

/// Schedules one after another: `chain: {parts: [linear: {from: 0.2, to: 1, length: 5}, cosine]}`.
/// Each part counts its own t from its start and lasts for its `length`; the last one takes the
/// rest of the run.
class Chain final : public Schedule {
 public:
  explicit Chain(config::Fields& fields) {
    fields.list_of("parts", parts_, "the schedules in order; each but the last gives its 'length'",
                   schedule_kinds().first(schedule_kinds().size() - 1));
    if (fields.describing()) return;
    if (parts_.empty()) {
      fields.error(
          "",
          "'chain' needs schedules, as in {parts: [{linear: {from: 0.2, to: 1, length: 5}}, "
          "cosine]}");
    }
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
      if (parts_[i]->length(1)) continue;
      fields.error("parts", "part " + std::to_string(i + 1) + " of the chain, '" +
                                std::string(parts_[i]->name()) +
                                "', needs a 'length': only the last part takes the rest of the "
                                "run");
    }
  }
  [[nodiscard]] std::string_view name() const override { return "chain"; }
  [[nodiscard]] std::int64_t warmup_steps(std::int64_t steps_per_epoch) const override {
    return parts_[0]->warmup_steps(steps_per_epoch);
  }
  [[nodiscard]] std::int64_t last_part(std::int64_t steps_per_epoch) const override {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
      begin += parts_[i]->length(steps_per_epoch).value_or(0);
    }
    const std::int64_t own = parts_.back()->last_part(steps_per_epoch);
    return own > 0 ? begin + own : begin;
  }
  [[nodiscard]] double rate(std::int64_t step, const ScheduleContext& context) const override {
    ScheduleContext own = context;
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
      const std::int64_t length = parts_[i]->length(context.steps_per_epoch).value_or(0);
      if (step < length) return parts_[i]->rate(step, own);
      step -= length;
      own.before += length;
    }
    return parts_.back()->rate(step, own);
  }

 private:
  std::vector<std::unique_ptr<Schedule>> parts_;
};

template <class Listed>
std::unique_ptr<Schedule> read_as(config::Fields& fields) {
  return std::make_unique<Listed>(fields);
}

}  // namespace

std::span<const config::Kind<Schedule>> schedule_kinds() {
  static constexpr config::Kind<Schedule> kKinds[] = {
      {"constant", "the optimizer's learning rate", read_as<Constant>},
      {"poly", "(base - end) * (1 - t / T)^power + end", read_as<Poly>},
      {"cosine", "end + (base - end) * (1 + cos(pi * t / T)) / 2", read_as<CosineDecay>},
      {"step", "base * gamma^floor(t / every)", read_as<Step>},
      {"multistep", "base * gamma^(number of boundaries b with t >= b)", read_as<Multistep>},
      {"exponential", "base * gamma^t", read_as<Exponential>},
      {"inverse", "base * (1 + gamma * t)^-power", read_as<Inverse>},
      {"sigmoid", "base / (1 + e^(-gamma * (t - center)))", read_as<SigmoidDecay>},
      {"inverse_sqrt", "base * sqrt(flat / max(t, flat))", read_as<InverseSqrt>},
      {"linear", "base * (from + (to - from) * t / T)", read_as<LinearRamp>},
      {"cosine_restarts", "cosine again and again, each time over a longer period (SGDR)",
       read_as<CosineRestarts>},
      {"one_cycle", "up to the base and down again (Smith 2018); of the learning rate alone",
       read_as<OneCycle>},
      {"wsd", "constant, then a decay at the end; with a warm-up: warm-up, stable, decay",
       read_as<StableThenDecay>},
      {"expression", "a formula of base, epoch, epochs, step and steps", read_as<Expression>},
      {"piecewise", "a table of [t, lr]; a row applies once t reaches its t", read_as<Piecewise>},
      {"chain", "schedules one after another", read_as<Chain>},  // last: a chain has no chains
  };
  return kKinds;
}

void check_rates(const Schedule& schedule, const ScheduleContext& context) {
  constexpr std::int64_t kMost = 100'000;
  const std::int64_t steps = context.steps;
  const std::int64_t stride = (steps + kMost - 1) / kMost;
  for (std::int64_t step = 0; step < steps; step += stride) {
    static_cast<void>(schedule.rate(step, context));
  }
  static_cast<void>(schedule.rate(steps - 1, context));
}

PlateauState after_epoch(const PlateauPolicy& rule, const PlateauState& state, double value,
                         double rate) {
  if (std::isnan(value)) return state;
  PlateauState next = state;
  if (next.cooldown > 0) {
    --next.cooldown;
    next.waited = 0;
  }
  if (improves(rule, value, next.best)) {
    next.best = value;
    next.waited = 0;
  } else if (next.cooldown == 0) {
    ++next.waited;
    if (next.waited >= rule.patience && rate > rule.min_rate) {
      next.factor *= rule.factor;
      next.cooldown = rule.cooldown;
      next.waited = 0;
    }
  }
  return next;
}

double plateau_rate(const PlateauState& state, double min_rate, double scheduled) {
  if (state.factor == 1) return scheduled;
  return std::max(scheduled * state.factor, std::min(scheduled, min_rate));
}

}  // namespace trainyard

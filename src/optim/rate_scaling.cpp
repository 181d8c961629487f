#include "optim/rate_scaling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace trainyard {
namespace {

using Rule = RateScaling::Rule;

constexpr double kWarmupEpochs = 5;

class ScaledSchedule final : public Schedule {
 public:
  ScaledSchedule(std::shared_ptr<const Schedule> schedule, double factor, double warmup_epochs)
      : schedule_(std::move(schedule)), factor_(factor), warmup_epochs_(warmup_epochs) {}

  [[nodiscard]] std::string_view name() const override {
    return schedule_ ? schedule_->name() : "constant";
  }
  [[nodiscard]] double rate(std::int64_t step, const ScheduleContext& context) const override {
    const double own = schedule_ ? schedule_->rate(step, context) : context.base;
    return own * factor_at(step, context);
  }

  [[nodiscard]] std::int64_t warmup_steps(std::int64_t steps_per_epoch) const override {
    const std::int64_t own = schedule_ ? schedule_->warmup_steps(steps_per_epoch) : 0;
    return factor_ <= 1 ? own : std::max(own, length_of_warmup(steps_per_epoch));
  }
  [[nodiscard]] std::int64_t last_part(std::int64_t steps_per_epoch) const override {
    return schedule_ ? schedule_->last_part(steps_per_epoch) : 0;
  }

 private:
  /// Steps of its own warm-up.
  [[nodiscard]] std::int64_t length_of_warmup(std::int64_t steps_per_epoch) const {
    return std::llround(warmup_epochs_ * static_cast<double>(steps_per_epoch));
  }
  [[nodiscard]] double factor_at(std::int64_t step, const ScheduleContext& context) const {
    const std::int64_t length = length_of_warmup(context.steps_per_epoch);
    if (factor_ <= 1 || step >= length) return factor_;
    return 1 + (factor_ - 1) * static_cast<double>(step) / static_cast<double>(length);
  }

  std::shared_ptr<const Schedule> schedule_;
  double factor_;
  double warmup_epochs_;
};

std::unique_ptr<RateScaling> read_none(config::Fields& /*fields*/) {
  return std::make_unique<RateScaling>();
}

template <Rule rule>
std::unique_ptr<RateScaling> read_scaling(config::Fields& fields) {
  auto scaling = std::make_unique<RateScaling>(RateScaling{.rule = rule});
  fields.field("batch", scaling->batch,
               "samples per step that the learning rate was chosen for; default: those of one rank",
               {.minimum = 1});
  fields.field("warmup_epochs", scaling->warmup_epochs,
               "epochs over which a factor above 1 grows from 1; default: 5, or 0 if the schedule "
               "has its own warm-up",
               {.minimum = 0});
  return scaling;
}

}  // namespace

std::string_view RateScaling::name() const {
  return rate_scaling_kinds()[static_cast<std::size_t>(rule)].name;
}

double RateScaling::factor(double ratio) const {
  switch (rule) {
    case Rule::none:
      return 1;
    case Rule::linear:
      return ratio;
    case Rule::sqrt:
      return std::sqrt(ratio);
  }
  return 1;
}

std::span<const config::Kind<RateScaling>> rate_scaling_kinds() {
  static constexpr std::array kKinds{
      // in the order of Rule
      config::Kind<RateScaling>{"none", "the learning rate is unchanged", read_none},
      config::Kind<RateScaling>{"linear", "lr * batch / reference batch",
                                read_scaling<Rule::linear>},
      config::Kind<RateScaling>{"sqrt", "lr * sqrt(batch / reference batch)",
                                read_scaling<Rule::sqrt>}};
  return kKinds;
}

std::shared_ptr<const Schedule> scaled_schedule(std::shared_ptr<const Schedule> schedule,
                                                const RateScaling& scaling, double ratio) {
  const double usual = schedule && schedule->warms_up() ? 0 : kWarmupEpochs;
  return std::make_shared<const ScaledSchedule>(std::move(schedule), scaling.factor(ratio),
                                                scaling.warmup_epochs.value_or(usual));
}

}  // namespace trainyard

#include "run/config/batch_rate.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard {
namespace {

bool scales(const RunConfig& run) {
  return run.lr_scaling && run.lr_scaling->rule != RateScaling::Rule::none;
}

/// `global` divided by the batch that the learning rate was chosen for.
double batch_ratio(const RunConfig& run, std::int64_t global) {
  const std::int64_t own = run.batch.per_gpu.value_or(1) * run.accumulate;
  return static_cast<double>(global) / static_cast<double>(run.lr_scaling->batch.value_or(own));
}

}  // namespace

void check_rate_scaling(config::Fields& fields, const RunConfig& run) {
  if (fields.describing() || !scales(run)) return;
  const RateScaling& scaling = *run.lr_scaling;
  if (!scaling.batch && run.batch.total) {
    fields.error("lr_scaling", fmt::format("'{0}' requires the batch that the learning rate was "
                                           "chosen for, which 'batch.total' does not give: "
                                           "{{{0}: {{batch: 64}}}}",
                                           scaling.name()));
  }
  if (scaling.warmup_epochs.value_or(0) > 0 && run.schedule && run.schedule->warms_up()) {
    fields.error("lr_scaling", fmt::format("both 'schedule' and '{}' warm up; leave out one of the "
                                           "two",
                                           scaling.name()));
  }
}

double rate_factor(const RunConfig& run, std::int64_t global) {
  return scales(run) ? run.lr_scaling->factor(batch_ratio(run, global)) : 1;
}

std::shared_ptr<const Schedule> schedule_of(const RunConfig& run, std::int64_t global) {
  if (!scales(run)) return run.schedule;
  return scaled_schedule(run.schedule, *run.lr_scaling, batch_ratio(run, global));
}

std::vector<RatePoint> scheduled_rates(const RunConfig& run, const BatchNumbers& batch,
                                       std::int64_t most) {
  const auto schedule = schedule_of(run, batch.global);
  const ScheduleContext context{
      .base = run.optimizer->rate, .epochs = run.epochs, .steps_per_epoch = batch.steps};
  const std::int64_t steps = run.epochs * batch.steps;
  const std::int64_t stride = (steps + most - 1) / most;
  std::vector<RatePoint> points;
  for (std::int64_t step = 0; step < steps;
       step = std::max(step + 1, std::min(step + stride, steps - 1))) {
    const double rate = schedule ? schedule->rate(step, context) : context.base;
    const double decay = 1.0 + run.optimizer->time_decay * static_cast<double>(step);
    points.push_back({step + 1, rate / decay});
  }
  return points;
}

std::string rate_warning(const RunConfig& run, std::int64_t ranks, std::int64_t global) {
  if (run.lr_scaling || ranks == 1 || !run.batch.per_gpu) return "";
  return fmt::format(
      "the global batch {} is {} times that of one rank, but the learning rate is unchanged: an "
      "epoch has {} times fewer steps, which often costs accuracy; 'lr_scaling: linear' multiplies "
      "the learning rate by {} after a warm-up, 'lr_scaling: none' states that this is intended",
      global, ranks, ranks, ranks);
}

}  // namespace trainyard

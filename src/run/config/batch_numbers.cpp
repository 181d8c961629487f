#include "run/config/batch_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "config/diagnostics.h"
#include "ops/bn.h"

namespace trainyard {

namespace {

bool is_power_of_two(std::int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

bool scales(const RunConfig& run) {
  return run.lr_scaling && run.lr_scaling->rule != RateScaling::Rule::none;
}

/// `global` divided by the batch that the learning rate was chosen for.
double batch_ratio(const RunConfig& run, std::int64_t global) {
  const std::int64_t own = run.batch.per_gpu.value_or(1) * run.accumulate;
  return static_cast<double>(global) / static_cast<double>(run.lr_scaling->batch.value_or(own));
}

}  // namespace

void check_shards(config::Fields& fields, const BatchConfig& batch) {
  if (!batch.shards) return;
  if (!is_power_of_two(*batch.shards)) {
    fields.error("shards", fmt::format("'shards' must be a power of two from 1 to {}, found {}",
                                       kMostShards, *batch.shards));
  }
  if (batch.per_gpu) {
    fields.error("shards",
                 "'shards' are parts of a global batch that does not depend on the number of "
                 "ranks: give 'total' instead of 'per_gpu'");
  }
}

void check_shards_fill(config::Fields& fields, const RunConfig& run) {
  if (fields.describing() || !run.batch.shards || !run.batch.total) return;
  if (!is_power_of_two(*run.batch.shards) || run.accumulate < 1) return;  // reported already
  const std::int64_t parts = *run.batch.shards * run.accumulate;
  if (*run.batch.total % parts == 0) return;
  fields.error(
      "batch",
      fmt::format("'total' {} is not divisible by {} (shards {} x accumulate {}); choose a "
                  "multiple of it",
                  *run.batch.total, parts, *run.batch.shards, run.accumulate));
}

void check_shards_alone(const Graph& graph, config::Diagnostics& diagnostics) {
  for (const Node& node : graph.nodes) {
    const auto* const bn = dynamic_cast<const BnOp*>(node.op.get());
    if (bn == nullptr || !bn->values().sync) continue;
    diagnostics.error(node.where,
                      "layer '" + node.path +
                          "': 'sync: true' takes the statistics of all replicas together, but with "
                          "'batch.shards' each shard has its own; leave out one of the two");
  }
}

std::int64_t shards_of_rank(const RunConfig& run, std::int64_t ranks) {
  if (!run.batch.shards) return 1;
  const std::int64_t shards = *run.batch.shards;
  if (shards % ranks == 0) return shards / ranks;
  throw Error(
      ErrorKind::config,
      fmt::format("batch.shards {} is not divisible by {} ranks; use a number of ranks that "
                  "divides it ({}), or other shards",
                  shards, ranks,
                  shards == 1 ? "1" : fmt::format("a power of two up to {}", shards)));
}

std::int64_t replica_batch(const RunConfig& run, std::int64_t ranks) {
  if (run.batch.per_gpu) return *run.batch.per_gpu;
  const std::int64_t parts = ranks * shards_of_rank(run, ranks) * run.accumulate;
  if (*run.batch.total % parts != 0) {
    throw Error(ErrorKind::config, "batch.total " + std::to_string(*run.batch.total) +
                                       " is not divisible by " + std::to_string(parts) +
                                       " (ranks x accumulate); choose a multiple of it");
  }
  return *run.batch.total / parts;
}

std::int64_t global_batch(const RunConfig& run, std::int64_t ranks) {
  return replica_batch(run, ranks) * ranks * shards_of_rank(run, ranks) * run.accumulate;
}

BatchNumbers batch_numbers(const RunConfig& run, std::int64_t ranks, std::int64_t samples) {
  BatchNumbers numbers{
      .replica = replica_batch(run, ranks), .ranks = ranks, .global = global_batch(run, ranks)};
  numbers.steps = samples / numbers.global;
  numbers.dropped = samples - numbers.steps * numbers.global;
  if (numbers.steps == 0) {
    throw Error(ErrorKind::config, "the training split has " + std::to_string(samples) +
                                       " samples, fewer than one global batch of " +
                                       std::to_string(numbers.global) + "; use a smaller batch");
  }
  numbers.all_steps = run.length.all_steps(numbers.steps);
  numbers.epochs = run.length.all_epochs(numbers.steps);
  return numbers;
}

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
      .base = run.optimizer->rate, .steps = batch.all_steps, .steps_per_epoch = batch.steps};
  const std::int64_t steps = context.steps;
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

// The batch of a run in numbers, of a pass, of a step and of an epoch, on any number of ranks; and
// the learning rate that goes with it (`lr_scaling`).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/fields.h"
#include "graph/graph.h"
#include "report/plot_script.h"
#include "run/config/run_config.h"

namespace trainyard {

inline constexpr double kMostShards = 256;

/// Reports shards that are not a power of two, or that are given without `total`.
void check_shards(config::Fields& fields, const BatchConfig& batch);
/// Reports a `total` that is not divisible by the shards of all micro-batches.
void check_shards_fill(config::Fields& fields, const RunConfig& run);
/// Reports synchronised batch norm, whose statistics would be those of the shards that happen to be
/// computed together.
void check_shards_alone(const Graph& graph, config::Diagnostics& diagnostics);

/// Shards of a micro-batch that each of `ranks` ranks computes one after another; 1 for a run
/// without shards. Throws Error{config} if the ranks do not divide the shards.
[[nodiscard]] std::int64_t shards_of_rank(const RunConfig& run, std::int64_t ranks);

/// As the banner shows them.
struct BatchNumbers {
  std::int64_t replica = 1;  // samples per forward pass
  std::int64_t ranks = 1;
  std::int64_t global = 1;     // samples per step
  std::int64_t steps = 0;      // per epoch
  std::int64_t dropped = 0;    // samples left out per epoch
  std::int64_t all_steps = 0;  // length of the run
  std::int64_t epochs = 0;     // length of the run; the last may have fewer steps
};

/// Samples of a replica's forward pass. Throws Error{config} if `batch.total` is not divisible by
/// the passes of all `ranks`.
[[nodiscard]] std::int64_t replica_batch(const RunConfig& run, std::int64_t ranks);

/// Samples of a step. Throws as replica_batch().
[[nodiscard]] std::int64_t global_batch(const RunConfig& run, std::int64_t ranks);

/// The numbers of a run on `ranks` ranks whose training split has `samples` samples. Throws
/// Error{config} as replica_batch(), or if the samples do not fill one step.
[[nodiscard]] BatchNumbers batch_numbers(const RunConfig& run, std::int64_t ranks,
                                         std::int64_t samples);

/// Reports a rule without its reference batch, and two warm-ups.
void check_rate_scaling(config::Fields& fields, const RunConfig& run);

/// The factor on the run's learning rate after the warm-up, with `global` samples per step.
[[nodiscard]] double rate_factor(const RunConfig& run, std::int64_t global);
/// The run's schedule with `global` samples per step: the rule applied to that of its file. May be
/// null: the learning rate does not change.
[[nodiscard]] std::shared_ptr<const Schedule> schedule_of(const RunConfig& run,
                                                          std::int64_t global);

/// The learning rates of a run with these batches, of at most about `most` steps at equal distances
/// and of the last; not what `plateau` makes of them.
[[nodiscard]] std::vector<RatePoint> scheduled_rates(const RunConfig& run,
                                                     const BatchNumbers& batch, std::int64_t most);

/// A warning, with advice, for a run whose batch grew with its ranks and that has no `lr_scaling`;
/// else "".
[[nodiscard]] std::string rate_warning(const RunConfig& run, std::int64_t ranks,
                                       std::int64_t global);

}  // namespace trainyard

// `batch.shards`: the global batch in parts that are the same on any number of ranks.
#pragma once

#include <cstdint>

#include "config/fields.h"
#include "graph/graph.h"
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

}  // namespace trainyard

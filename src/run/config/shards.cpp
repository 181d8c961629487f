#include "run/config/shards.h"

#include <fmt/format.h>

#include <bit>

#include "base/error.h"
#include "config/diagnostics.h"
#include "ops/bn.h"

namespace trainyard {
namespace {

bool is_power_of_two(std::int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
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

}  // namespace trainyard

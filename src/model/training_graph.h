// A network's graph with loss and metrics attached.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace trainyard {

struct TrainingGraph {
  Graph graph;
  ValueId labels = -1;           // i32 [n]
  ValueId loss = -1;             // per sample, [n]
  std::vector<ValueId> metrics;  // per sample, [n] each
};

/// Appends labels, loss and metrics to `network`. Ops are shared with the graph's copies.
[[nodiscard]] TrainingGraph attach_loss(Graph network, std::shared_ptr<const Op> loss,
                                        std::span<const std::shared_ptr<const Op>> metrics);

/// The same network for another batch.
[[nodiscard]] TrainingGraph with_batch(const TrainingGraph& graph, std::int64_t batch);

/// The same network as trained by each of `replicas`: batch norms with `sync` count the samples of
/// all replicas if the running variance is unbiased.
[[nodiscard]] TrainingGraph with_replicas(const TrainingGraph& graph, int replicas);

/// True if a batch norm has `sync`, so that passes sum over replicas.
[[nodiscard]] bool syncs_batch_norms(const Graph& graph);

}  // namespace trainyard

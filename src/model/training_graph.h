// A network's graph with loss and metrics attached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/metric.h"

namespace trainyard {

/// A metric of a graph.
struct GraphMetric {
  std::shared_ptr<const Metric> op;
  ValueId output = -1;     // [n] or [n, width]
  std::int64_t width = 1;  // numbers per sample, whose sums follow those of the metrics before it
};

struct TrainingGraph {
  Graph graph;
  ValueId labels = -1;  // i32 [n]
  ValueId loss = -1;    // per sample, [n]
  std::vector<GraphMetric> metrics;
};

/// The sums that a split's metrics need.
[[nodiscard]] std::int64_t metric_sums(const TrainingGraph& graph);
/// The metrics' values from those sums over `samples` samples.
[[nodiscard]] std::vector<double> metric_values(const TrainingGraph& graph,
                                                std::span<const double> sums, std::int64_t samples);
/// The index of the first sum of the metric with this column, if the graph has it.
[[nodiscard]] std::optional<std::int64_t> sum_of_metric(const TrainingGraph& graph,
                                                        std::string_view column);
/// Their columns in metrics.csv, in the same order.
[[nodiscard]] std::vector<std::string> metric_columns(const TrainingGraph& graph);

/// Appends labels, loss and metrics to `network`. Ops are shared with the graph's copies.
[[nodiscard]] TrainingGraph attach_loss(Graph network, std::shared_ptr<const Op> loss,
                                        std::span<const std::shared_ptr<const Metric>> metrics);

/// The same network for another batch.
[[nodiscard]] TrainingGraph with_batch(const TrainingGraph& graph, std::int64_t batch);

/// The same network as trained by each of `replicas`: batch norms with `sync` count the samples of
/// all replicas if the running variance is unbiased.
[[nodiscard]] TrainingGraph with_replicas(const TrainingGraph& graph, int replicas);

/// True if a batch norm has `sync`, so that passes sum over replicas.
[[nodiscard]] bool syncs_batch_norms(const Graph& graph);

}  // namespace trainyard

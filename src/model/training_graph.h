// A network's graph with losses and metrics attached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sets/sample_field.h"
#include "graph/graph.h"
#include "ops/loss.h"
#include "ops/metric.h"

namespace trainyard {

/// A metric of a graph, or one of several losses.
struct GraphMetric {
  std::shared_ptr<const Metric> op;  // null: a loss
  std::string column;                // column in metrics.csv
  ValueId output = -1;     // [rows] or [rows, width]; -1: it is of the split (Metric::of_split)
  std::int64_t width = 1;  // numbers per row, whose sums follow those of the metrics before it
};

/// An input of a graph that batches fill from a field of the samples.
struct GraphField {
  std::string name;
  ValueId value = -1;  // i32 or f32 [n, field's shape]
};

/// True for a metric whose value is made of the outputs for a whole split.
[[nodiscard]] inline bool is_of_split(const GraphMetric& metric) {
  return metric.op != nullptr && metric.op->of_split();
}

struct TrainingGraph {
  Graph graph;
  ValueId images = -1;             // the network's input; -1: it is a field, of tokens
  std::vector<GraphField> fields;  // in the order of Batch::fields
  std::int64_t positions = 1;      // rows of a sample: as many as it has labels
  std::string mask;  // field whose zeros leave positions out of losses and metrics; or ""
  ValueId sample_weights = -1;  // f32 [rows], the last of the fields; -1: samples have none
  ValueId loss = -1;            // per row, [rows]
  std::vector<GraphMetric> metrics;
};

/// Losses and metrics of a network.
struct Objectives {
  std::vector<std::shared_ptr<const LossOp>> losses;  // at least one, at most kMostLosses
  std::vector<std::shared_ptr<const Metric>> metrics;
  std::vector<SampleField> fields = {SampleField{}};  // the data's; those that are read matter
  bool weighted = false;                              // samples have weights; masked positions do
  bool mixed = false;                                 // samples are mixed (kMixField)
};

/// The names of its fields, in order, without the weights.
[[nodiscard]] std::vector<std::string> field_names(const TrainingGraph& graph);

/// The sums that a split's metrics need. With weights those of the weights, and the number of
/// rows whose weight is not 0, follow.
[[nodiscard]] std::int64_t metric_sums(const TrainingGraph& graph);
/// The index of the sum of the weights, if the graph has them.
[[nodiscard]] std::optional<std::int64_t> weight_sums(const TrainingGraph& graph);
/// The metrics' values from those sums over `samples` samples; NaN for one of the split.
[[nodiscard]] std::vector<double> metric_values(const TrainingGraph& graph,
                                                std::span<const double> sums, std::int64_t samples);
/// What a sum of losses over `samples` samples is divided by: the sum of their weights, of which
/// `sums` are; without weights their number.
[[nodiscard]] double total_weight(const TrainingGraph& graph, std::span<const double> sums,
                                  std::int64_t samples);
/// The rows of `samples` samples that metrics count: those whose weight is not 0.
[[nodiscard]] std::int64_t counted_rows(const TrainingGraph& graph, std::span<const double> sums,
                                        std::int64_t samples);
/// The index of the first sum of the metric with this column, if the graph has it.
[[nodiscard]] std::optional<std::int64_t> sum_of_metric(const TrainingGraph& graph,
                                                        std::string_view column);

/// Appends fields, losses and metrics to `network`: several losses with their weighted sum, in
/// which differentiation begins, and a column `OUTPUT_loss` for each. Ops are shared with the
/// graph's copies. Throws Error{config} for an output or a field that is not there.
[[nodiscard]] TrainingGraph attach_objectives(Graph network, const Objectives& objectives);

/// The value of the network's output of this name; "": the last layer's. Throws Error{config}.
[[nodiscard]] ValueId output_named(const Graph& network, const std::string& name);

/// The same network for another batch.
[[nodiscard]] TrainingGraph with_batch(const TrainingGraph& graph, std::int64_t batch);

/// The same network as trained by each of `replicas`: batch norms with `sync` count the samples of
/// all replicas if the running variance is unbiased.
[[nodiscard]] TrainingGraph with_replicas(const TrainingGraph& graph, int replicas);

/// Throws Error{config} for each batch norm that has a single value per channel in training, whose
/// output is then beta whatever its input.
void require_batch_variance(const Graph& network, int replicas);

/// Throws Error{config} at a layer with `init: whitening` that is no plain convolution of the
/// network's input with two filters for each value of a patch.
void require_whitenable(const Graph& network);

/// True if a batch norm has `sync`, so that passes sum over replicas.
[[nodiscard]] bool syncs_batch_norms(const Graph& graph);

}  // namespace trainyard

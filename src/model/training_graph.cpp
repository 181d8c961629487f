#include "model/training_graph.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ops/bn.h"

namespace trainyard {
namespace {

/// A batch norm that syncs; else null.
const BnOp* synced(const Node& node) {
  const auto* const bn = dynamic_cast<const BnOp*>(node.op.get());
  return bn != nullptr && bn->values().sync ? bn : nullptr;
}

/// The statistics of the node, counted over `replicas`.
void count_replicas(const Graph& graph, Node& node, int replicas) {
  const BnOp* const bn = synced(node);
  if (bn == nullptr) return;
  BnAttributes attributes = bn->values();
  attributes.replicas = replicas;
  node.op = std::make_shared<BnOp>(attributes);
  std::vector<Shape> inputs;
  for (const ValueId input : node.inputs) inputs.push_back(graph.values[input].shape);
  node.signature.statistics = node.op->infer(inputs).statistics;
}

}  // namespace

TrainingGraph attach_loss(Graph network, std::shared_ptr<const Op> loss,
                          std::span<const std::shared_ptr<const Metric>> metrics) {
  TrainingGraph result{.graph = std::move(network)};
  Graph& graph = result.graph;
  const std::int64_t batch = graph.values[graph.inputs[0]].shape.n();
  result.labels = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({.shape = Shape{batch}, .type = DType::i32});
  graph.inputs.push_back(result.labels);
  const auto attach = [&](const std::shared_ptr<const Op>& op, const std::string& path) {
    Node node{.path = path, .op = op, .inputs = {graph.output, result.labels}};
    return graph.nodes[append_node(graph, std::move(node))].outputs[0];
  };
  result.loss = attach(loss, "loss");
  for (const auto& metric : metrics) {
    const ValueId output = attach(metric, std::string(metric->type()));
    result.metrics.push_back({metric, output, metric_width(graph.values[output].shape)});
  }
  return result;
}

std::int64_t metric_sums(const TrainingGraph& graph) {
  std::int64_t sums = 0;
  for (const GraphMetric& metric : graph.metrics) sums += metric.width;
  return sums;
}

std::vector<double> metric_values(const TrainingGraph& graph, std::span<const double> sums,
                                  std::int64_t samples) {
  std::vector<double> values;
  for (const GraphMetric& metric : graph.metrics) {
    const auto width = static_cast<std::size_t>(metric.width);
    values.push_back(metric.op->finish(sums.first(width), samples));
    sums = sums.subspan(width);
  }
  return values;
}

std::optional<std::int64_t> sum_of_metric(const TrainingGraph& graph, std::string_view column) {
  std::int64_t first = 0;
  for (const GraphMetric& metric : graph.metrics) {
    if (metric.op->column() == column) return first;
    first += metric.width;
  }
  return std::nullopt;
}

std::vector<std::string> metric_columns(const TrainingGraph& graph) {
  std::vector<std::string> columns;
  for (const GraphMetric& metric : graph.metrics) columns.push_back(metric.op->column());
  return columns;
}

TrainingGraph with_batch(const TrainingGraph& graph, std::int64_t batch) {
  TrainingGraph result = graph;
  result.graph = with_batch(graph.graph, batch);
  return result;
}

TrainingGraph with_replicas(const TrainingGraph& graph, int replicas) {
  TY_CHECK(replicas >= 1, "a network is trained by at least one replica");
  TrainingGraph result = graph;
  if (replicas == 1) return result;
  for (Node& node : result.graph.nodes) count_replicas(result.graph, node, replicas);
  return result;
}

bool syncs_batch_norms(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) { return synced(node) != nullptr; });
}

}  // namespace trainyard

#include "run/training_graph.h"

#include <string>
#include <utility>

namespace trainyard {

TrainingGraph attach_loss(Graph network, std::shared_ptr<const Op> loss,
                          std::span<const std::shared_ptr<const Op>> metrics) {
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
    result.metrics.push_back(attach(metric, std::string(metric->type())));
  }
  return result;
}

TrainingGraph with_batch(const TrainingGraph& graph, std::int64_t batch) {
  TrainingGraph result = graph;
  result.graph = with_batch(graph.graph, batch);
  return result;
}

}  // namespace trainyard

// Gains: not measured alone; one pass over a map less for each ReLU behind a batch norm or a sum,
// and one more for each sum that ends a residual unit.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/passes.h"

namespace trainyard {
namespace {

/// `graph` with other nodes over the same values.
Graph with_nodes(const Graph& graph, std::vector<Node> nodes) {
  Graph result = graph;
  for (NodeId id = 0; id < static_cast<NodeId>(nodes.size()); ++id) {
    for (const ValueId output : nodes[id].outputs) result.values[output].producer = id;
  }
  result.nodes = std::move(nodes);
  return result;
}

/// bn + relu and add + relu.
Graph fuse_relus(const Graph& graph) {
  const std::vector<int> readers = count_readers(graph);
  std::vector<NodeId> producer(graph.values.size(), -1);  // among the nodes that remain
  std::vector<Node> kept;
  for (const Node& node : graph.nodes) {
    if (node.op->type() == "relu" && readers[node.inputs[0]] == 1) {
      const NodeId first = producer[node.inputs[0]];
      if (auto merged = first < 0 ? nullptr : kept[first].op->with_relu()) {
        kept[first].op = std::move(merged);
        kept[first].outputs = node.outputs;
        producer[node.outputs[0]] = first;
        continue;
      }
    }
    for (const ValueId output : node.outputs) {
      producer[output] = static_cast<NodeId>(kept.size());
    }
    kept.push_back(node);
  }
  return with_nodes(graph, std::move(kept));
}

/// Finds the bn that a sum and its ReLU can be fused into.
class ResidualSums {
 public:
  ResidualSums(const Graph& graph, const Target& target)
      : graph_(graph), target_(target), readers_(count_readers(graph)) {
    for (const Node& node : graph.nodes) shared_.insert(node.parameters_of);
  }

  /// The input of `node` produced by that bn, or -1. The later of two: it need not move past the
  /// other branch.
  [[nodiscard]] int branch_of(const Node& node) const {
    if (node.op->type() != "add" || node.inputs.size() != 2) return -1;
    if (!node.op->contract().backward_reads_outputs) return -1;  // without a ReLU
    int best = -1;
    for (int i = 0; i < 2; ++i) {
      if (!can_take_sum(node.inputs[i])) continue;
      const bool later = best < 0 || producer(node.inputs[i]) > producer(node.inputs[best]);
      if (later) best = i;
    }
    return best;
  }

 private:
  [[nodiscard]] NodeId producer(ValueId value) const { return graph_.values[value].producer; }

  [[nodiscard]] bool can_take_sum(ValueId value) const {
    const Shape& shape = graph_.values[value].shape;
    if (producer(value) < 0 || readers_[value] != 1) return false;
    if (shape.rank() < 4 || shape.c() % target_.channel_multiple != 0) return false;
    const Node& node = graph_.nodes[producer(value)];
    // A node whose parameters others use must stay before them.
    return !shared_.contains(node.path) && node.op->with_sum_and_relu() != nullptr;
  }

  const Graph& graph_;
  const Target& target_;
  std::vector<int> readers_;
  std::set<std::string> shared_;  // paths of nodes whose parameters others use
};

/// bn + add (with its ReLU).
Graph fuse_sums(const Graph& graph, const Target& target) {
  const ResidualSums sums(graph, target);
  std::vector<Node> nodes = graph.nodes;
  std::vector<bool> moved(nodes.size(), false);
  for (Node& node : nodes) {
    const int branch = sums.branch_of(node);
    if (branch < 0) continue;
    const NodeId first = graph.values[node.inputs[branch]].producer;
    Node bn = graph.nodes[first];
    bn.op = bn.op->with_sum_and_relu();
    bn.inputs.push_back(node.inputs[1 - branch]);
    bn.outputs = node.outputs;
    moved[first] = true;
    node = std::move(bn);
  }
  std::vector<Node> kept;
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (!moved[id]) kept.push_back(std::move(nodes[id]));
  }
  return with_nodes(graph, std::move(kept));
}

}  // namespace

Graph fuse(const Graph& graph, const Target& target) {
  return fuse_sums(fuse_relus(graph), target);
}

}  // namespace trainyard

#include "plan/fuse.h"

#include <memory>
#include <string_view>
#include <vector>

#include "ops/add.h"
#include "ops/bn.h"

namespace trainyard {
namespace {

/// `first` with a ReLU inside, or null if it has no such form.
std::shared_ptr<const Op> with_relu(const Op& first) {
  if (first.type() == "bn") {
    BnAttributes attributes = static_cast<const BnOp&>(first).values();
    if (attributes.relu) return nullptr;
    attributes.relu = true;
    return std::make_shared<BnOp>(attributes);
  }
  if (first.type() == "add") {
    AddAttributes attributes = static_cast<const AddOp&>(first).values();
    if (attributes.relu) return nullptr;
    attributes.relu = true;
    return std::make_shared<AddOp>(attributes);
  }
  return nullptr;
}

std::vector<int> count_readers(const Graph& graph) {
  std::vector<int> readers(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const ValueId input : node.inputs) ++readers[input];
  }
  if (graph.output >= 0) ++readers[graph.output];
  return readers;
}

}  // namespace

Graph fuse(const Graph& graph) {
  const std::vector<int> readers = count_readers(graph);
  Graph fused = graph;
  fused.nodes.clear();
  for (const Node& node : graph.nodes) {
    if (node.op->type() == "relu" && readers[node.inputs[0]] == 1) {
      const NodeId producer = fused.values[node.inputs[0]].producer;
      const auto merged = producer < 0 ? nullptr : with_relu(*fused.nodes[producer].op);
      if (merged != nullptr) {
        Node& first = fused.nodes[producer];
        first.op = merged;
        first.outputs = node.outputs;
        fused.values[node.outputs[0]].producer = producer;
        continue;
      }
    }
    const NodeId id = static_cast<NodeId>(fused.nodes.size());
    for (const ValueId output : node.outputs) fused.values[output].producer = id;
    fused.nodes.push_back(node);
  }
  return fused;
}

}  // namespace trainyard

#include "plan/biases.h"

#include <memory>

#include "base/error.h"
#include "ops/conv.h"
#include "ops/conv_transpose.h"
#include "ops/dense.h"

namespace trainyard {
namespace {

template <class Attributes>
Attributes without_bias(Attributes attributes) {
  attributes.bias = false;
  return attributes;
}

/// The same op without its bias, its last parameter; null if it has none.
std::shared_ptr<const Op> without_bias(const Op& op) {
  if (const auto* conv = dynamic_cast<const ConvOp*>(&op); conv && conv->values().bias) {
    return std::make_shared<ConvOp>(without_bias(conv->values()));
  }
  if (const auto* conv = dynamic_cast<const ConvTransposeOp*>(&op); conv && conv->values().bias) {
    return std::make_shared<ConvTransposeOp>(
        ConvTransposeAttributes{without_bias(conv->values()), conv->output_pad()});
  }
  if (const auto* dense = dynamic_cast<const DenseOp*>(&op); dense && dense->values().bias) {
    return std::make_shared<DenseOp>(without_bias(dense->values()));
  }
  return nullptr;
}

/// By value: the batch norms that normalise it; none if anything else reads it.
std::vector<std::vector<NodeId>> sole_norms(const Graph& graph, std::span<const ValueId> kept) {
  std::vector<std::vector<NodeId>> norms(graph.values.size());
  std::vector<bool> seen(graph.values.size(), false);
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.nodes[id];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (i == 0 && node.op->type() == "bn") {
        norms[node.inputs[i]].push_back(id);
      } else {
        seen[node.inputs[i]] = true;
      }
    }
  }
  for (const ValueId value : kept) seen[value] = true;
  for (std::size_t value = 0; value < norms.size(); ++value) {
    if (seen[value]) norms[value].clear();
  }
  return norms;
}

}  // namespace

std::vector<CancelledBias> cancel_biases(Graph& graph, std::span<const ValueId> kept) {
  const std::vector<std::vector<NodeId>> norms = sole_norms(graph, kept);
  std::vector<CancelledBias> cancelled;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    Node& layer = graph.nodes[id];
    if (norms[layer.outputs[0]].empty()) continue;
    const std::shared_ptr<const Op> bare = without_bias(*layer.op);
    if (bare == nullptr) continue;
    layer.op = bare;
    TY_CHECK(infer_signature(graph, layer).empty(), "a layer has a shape without its bias too");
    for (const NodeId norm : norms[layer.outputs[0]]) cancelled.push_back({id, norm});
  }
  return cancelled;
}

}  // namespace trainyard

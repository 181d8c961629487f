// Gains on a GPU: of the 22 and 20 launches that add biases in a step of ResNet-20 and
// MiniGoogLeNet 3 and 1 are left, of the 44 and 40 that sum their gradients 3 and 1: 0.15 of 0.72
// GB and 0.35 of 1.78 GB (docs/results/log/gpu.md, "A step on a GPU, counted"). The time was not
// measured alone.
#include <memory>

#include "base/error.h"
#include "ops/bn.h"
#include "plan/passes.h"

namespace trainyard {
namespace {

/// By value: the batch norms that subtract its mean; none if anything else reads it.
std::vector<std::vector<NodeId>> sole_norms(const Graph& graph, std::span<const ValueId> kept) {
  std::vector<std::vector<NodeId>> norms(graph.values.size());
  std::vector<bool> seen(graph.values.size(), false);
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.nodes[id];
    const auto* const bn = dynamic_cast<const BnOp*>(node.op.get());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (i == 0 && bn != nullptr && !bn->values().fixed) {
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

void cancel_biases(Plan& plan, std::span<const ValueId> kept) {
  begin(plan, PlanPass::cancel_biases);
  if (!plan.target.can(Can::cancel_biases)) return;
  Graph& graph = plan.laid_out.graph;
  const std::vector<std::vector<NodeId>> norms = sole_norms(graph, kept);
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    Node& layer = graph.nodes[id];
    if (norms[layer.outputs[0]].empty()) continue;
    std::unique_ptr<const Op> bare = layer.op->without_bias();
    if (bare == nullptr) continue;
    layer.op = std::move(bare);
    TY_CHECK(infer_signature(graph, layer).empty(), "a layer has a shape without its bias too");
    for (const NodeId norm : norms[layer.outputs[0]]) plan.cancelled_biases.push_back({id, norm});
  }
}

}  // namespace trainyard

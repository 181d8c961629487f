#include <algorithm>
#include <utility>

#include "ops/dense.h"
#include "ops/loss.h"
#include "ops/top_k.h"
#include "plan/plan.h"

namespace trainyard {
namespace {

/// The op of a step, if it is one of this type; else null.
template <class T>
const T* op_of(const Plan& plan, const PlanStep& step) {
  if (step.kind != PlanStep::Kind::op) return nullptr;
  return dynamic_cast<const T*>(plan.laid_out.graph.nodes[step.node].op.get());
}

/// Takes along the first accuracy of the values that the loss reads.
void take_accuracy(Plan& plan, PlanStep& head) {
  const auto accuracy = std::ranges::find_if(plan.steps, [&](const PlanStep& step) {
    return op_of<TopKOp>(plan, step) != nullptr && step.inputs[0] == head.inputs[0];
  });
  if (accuracy == plan.steps.end()) return;
  head.head.accuracy = op_of<TopKOp>(plan, *accuracy);
  head.inputs.push_back(accuracy->inputs[1]);
  head.outputs.push_back(accuracy->outputs[0]);
  plan.steps.erase(accuracy);
}

/// A dense layer in 16 bits is followed by a launch that adds its bias: not if the loss does. Only
/// the two may touch the values.
void take_bias(Plan& plan, PlanStep& head) {
  const TensorId values = head.inputs[0];
  const auto uses = [&](const PlanStep& step) { return plan.touches(step, values); };
  const auto layer = std::ranges::find_if(plan.steps, uses);
  const auto* const dense = op_of<DenseOp>(plan, *layer);
  if (std::ranges::count_if(plan.steps, uses) != 2) return;
  if (dense == nullptr || !dense->values().bias || layer->relu) return;
  layer->bias_later = true;
  head.head.adds_bias = true;
  head.bias_of = layer->node;
}

}  // namespace

void join_loss(Plan& plan, NodeId loss) {
  const auto forward = op_step(plan, loss, Pass::forward_train);
  const auto backward = op_step(plan, loss, Pass::backward_data);
  if (!plan.target.merges_launches || backward == plan.steps.end()) return;
  if (op_of<AnyLoss>(plan, *backward) == nullptr) return;
  PlanStep head = *backward;
  head.head.losses = true;
  head.outputs = forward->outputs;
  plan.steps.erase(forward);
  take_accuracy(plan, head);
  if (plan.target.storage != DType::f32) take_bias(plan, head);
  *op_step(plan, loss, Pass::backward_data) = std::move(head);
}

}  // namespace trainyard

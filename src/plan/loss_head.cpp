// Gains on a GPU: 2 to 3 launches of a step, about 1 us each on an H200 (docs/results/log/gpu.md,
// `probe`); not measured alone.
#include <algorithm>
#include <utility>

#include "ops/metric.h"
#include "plan/passes.h"

namespace trainyard {
namespace {

/// The accuracy that a step computes; null for other steps.
const TopKOp* accuracy_of(const Plan& plan, const PlanStep& step) {
  if (step.kind != PlanStep::Kind::op) return nullptr;
  return dynamic_cast<const TopKOp*>(plan.node_of(step).op.get());
}

/// Takes along the first accuracy of the values that the loss reads.
void take_accuracy(Plan& plan, PlanStep& head) {
  const auto accuracy = std::ranges::find_if(plan.steps, [&](const PlanStep& step) {
    return accuracy_of(plan, step) != nullptr && step.inputs[0] == head.inputs[0];
  });
  if (accuracy == plan.steps.end()) return;
  head.form.accuracy = accuracy_of(plan, *accuracy);
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
  if (std::ranges::count_if(plan.steps, uses) != 2) return;
  if (layer->kind != PlanStep::Kind::op || layer->form.relu) return;
  if (!plan.node_of(*layer).op->contract().can(Can::leave_bias)) return;
  layer->form.bias = StepForm::Bias::by_other;
  head.form.bias = StepForm::Bias::of_other;
  head.bias_of = layer->node;
}

}  // namespace

void join_loss(Plan& plan, ValueId loss) {
  begin(plan, PlanPass::join_loss);
  if (loss < 0) return;
  const NodeId node = plan.laid_out.graph.values[loss].producer;
  const auto forward = op_step(plan, node, Pass::forward_train);
  const auto backward = op_step(plan, node, Pass::backward_data);
  if (backward == plan.steps.end() || !plan.can(*backward, Can::merge_launches)) return;
  PlanStep head = *backward;
  head.form.loss = true;
  head.outputs = forward->outputs;
  plan.steps.erase(forward);
  take_accuracy(plan, head);
  if (plan.target.storage != DType::f32) take_bias(plan, head);
  *op_step(plan, node, Pass::backward_data) = std::move(head);
}

}  // namespace trainyard

// Gains on a GPU: half of the Keras CNN's ReLU launches (10 to 5 of a step), 0.05 of 0.26 GB, and
// all but one of its 12 that sum biases' gradients; with a faster dropout its kernels of this kind
// took 91 us for 223 on an H100 (docs/results/log/gpu.md). On the CPU not measured alone.
#include <utility>

#include "plan/passes.h"

namespace trainyard {
namespace {

using PlanSteps = std::vector<PlanStep>;

bool runs_forward(const PlanStep& step) {
  return step.kind == PlanStep::Kind::op &&
         (step.pass == Pass::forward_train || step.pass == Pass::forward_eval);
}

/// True if a step may write to `to` what it has written to `from` until now.
bool same_form(const Plan& plan, TensorId from, TensorId to) {
  const PlanTensor &old = plan.tensors[from], &other = plan.tensors[to];
  return !old.kept && old.alias_of == kNoTensor && old.type == other.type &&
         same_memory(old.layout, other.layout);
}

/// The step of the layer that writes what the ReLU at `relu` alone reads; if there is none, `relu`.
PlanSteps::iterator layer_before(Plan& plan, PlanSteps::iterator relu) {
  const TensorId between = relu->inputs[0];
  if (!same_form(plan, between, relu->outputs[0])) return relu;
  PlanSteps::iterator layer = relu;
  for (auto step = plan.steps.begin(); step != plan.steps.end(); ++step) {
    if (step == relu || !plan.touches(*step, between)) continue;
    if (step > relu || layer != relu) return relu;
    layer = step;
  }
  const bool takes = layer != relu && runs_forward(*layer) && plan.can(*layer, Can::take_relu) &&
                     layer->outputs[0] == between;
  return takes ? layer : relu;
}

/// Where a layer's backward step would write the gradient of its bias.
TensorId take_bias_gradient(Plan& plan, PlanStep& layer) {
  if (layer.parameter_gradients.empty()) return add_block_gradient(plan, layer.node, kBias);
  return std::exchange(layer.parameter_gradients[kBias], kNoTensor);
}

void move_bias_gradient(Plan& plan, NodeId layer, NodeId relu) {
  const auto sums = op_step(plan, layer, Pass::backward_parameters);
  const auto cuts = op_step(plan, relu, Pass::backward_data);
  if (sums == plan.steps.end() || cuts == plan.steps.end()) return;
  cuts->parameter_gradients = {take_bias_gradient(plan, *sums)};
  cuts->form.bias = StepForm::Bias::of_other;
  sums->form.bias = StepForm::Bias::by_other;
}

}  // namespace

void absorb_relus(Plan& plan) {
  begin(plan, PlanPass::absorb_relus);
  if (!plan.target.can(Can::take_relu)) return;
  for (auto step = plan.steps.begin(); step != plan.steps.end();) {
    const bool relu = runs_forward(*step) && plan.node_of(*step).op->type() == "relu";
    const auto layer = relu ? layer_before(plan, step) : step;
    if (layer == step) {
      ++step;
      continue;
    }
    plan.values[plan.node_of(*layer).outputs[0]] = kNoTensor;
    layer->outputs = step->outputs;
    layer->form.relu = true;
    if (plan.target.can(Can::sum_bias)) move_bias_gradient(plan, layer->node, step->node);
    step = plan.steps.erase(step);
  }
}

}  // namespace trainyard

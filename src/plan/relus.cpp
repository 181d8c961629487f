#include <algorithm>
#include <utility>

#include "ops/convolution.h"
#include "ops/dense.h"
#include "plan/plan.h"

namespace trainyard {
namespace {

using PlanSteps = std::vector<PlanStep>;

const Node& node_of(const Plan& plan, const PlanStep& step) {
  return plan.laid_out.graph.nodes[step.node];
}

bool runs_forward(const PlanStep& step) {
  return step.kind == PlanStep::Kind::op &&
         (step.pass == Pass::forward_train || step.pass == Pass::forward_eval);
}

/// True for a convolution, a transposed one or a dense layer with a bias.
bool has_bias(const Node& node) {
  const Op* const op = node.op.get();
  const bool layer = dynamic_cast<const ConvolutionOp*>(op) != nullptr ||
                     dynamic_cast<const DenseOp*>(op) != nullptr;
  return layer && node.signature.parameters.size() > kBias;
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
  const bool takes = layer != relu && runs_forward(*layer) && has_bias(node_of(plan, *layer)) &&
                     layer->outputs[0] == between;
  return takes ? layer : relu;
}

/// Where a layer's backward step would write the gradient of its bias.
TensorId take_bias_gradient(Plan& plan, PlanStep& layer) {
  if (!layer.parameter_gradients.empty()) {
    return std::exchange(layer.parameter_gradients[kBias], kNoTensor);
  }
  const Graph& graph = plan.laid_out.graph;
  const NodeId owner = parameter_owners(graph)[layer.node];
  const ParameterSpec& bias = graph.nodes[layer.node].signature.parameters[kBias];
  PlanTensor entry = gradient_tensor(plan, bias, graph.nodes[owner].path);
  entry.gradient_of = {.node = owner, .index = kBias};
  plan.tensors.push_back(std::move(entry));
  return static_cast<TensorId>(plan.tensors.size()) - 1;
}

void move_bias_gradient(Plan& plan, NodeId layer, NodeId relu) {
  const auto sums = op_step(plan, layer, Pass::backward_parameters);
  const auto cuts = op_step(plan, relu, Pass::backward_data);
  if (sums == plan.steps.end() || cuts == plan.steps.end()) return;
  cuts->parameter_gradients = {take_bias_gradient(plan, *sums)};
  cuts->sums_bias = sums->bias_summed = true;
}

}  // namespace

void absorb_relus(Plan& plan) {
  if (!plan.target.absorbs_relu) return;
  for (auto step = plan.steps.begin(); step != plan.steps.end();) {
    const bool relu = runs_forward(*step) && node_of(plan, *step).op->type() == "relu";
    const auto layer = relu ? layer_before(plan, step) : step;
    if (layer == step) {
      ++step;
      continue;
    }
    plan.values[node_of(plan, *layer).outputs[0]] = kNoTensor;
    layer->outputs = step->outputs;
    layer->relu = true;
    if (plan.target.relu_sums_bias) move_bias_gradient(plan, layer->node, step->node);
    step = plan.steps.erase(step);
  }
}

}  // namespace trainyard

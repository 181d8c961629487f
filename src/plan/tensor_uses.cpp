#include "plan/tensor_uses.h"

#include <algorithm>

namespace trainyard {
namespace {

/// True for a step that writes its outputs: a copy, a sum, a forward pass, or a loss's backward
/// pass that takes it along.
bool writes_outputs(const PlanStep& step) {
  return step.kind != PlanStep::Kind::op || step.head.losses ||
         (step.pass != Pass::backward_data && step.pass != Pass::backward_parameters);
}

bool overwrites(const Plan& plan, const PlanStep& step, const PlanStep& other) {
  return std::ranges::any_of(tensors_of(step), [&](const TensorUse& use) {
    return use.writes && use.id != kNoTensor && plan.touches(other, use.id);
  });
}

}  // namespace

std::vector<TensorUse> tensors_of(const PlanStep& step) {
  std::vector<TensorUse> uses;
  const auto add = [&](TensorRole role, const std::vector<TensorId>& ids, bool reads, bool writes) {
    for (const TensorId id : ids) uses.push_back({role, id, reads, writes});
  };
  const bool forward = writes_outputs(step);
  const bool sums = step.kind == PlanStep::Kind::accumulate;
  const bool fills = step.pass == Pass::forward_train;
  uses.reserve(16);
  add(TensorRole::input, step.inputs, true, false);
  if (step.head.adds_bias) uses[0].writes = true;
  add(TensorRole::output, step.outputs, sums || !forward, forward);
  add(TensorRole::output_gradient, step.output_gradients, true, false);
  add(TensorRole::input_gradient, step.input_gradients, step.adds_gradient, true);
  add(TensorRole::parameter_gradient, step.parameter_gradients, false, true);
  add(TensorRole::packed_gradient, step.packed_gradients, false, true);
  uses.push_back({TensorRole::reserve, step.reserve, !fills, fills});
  uses.push_back({TensorRole::workspace, step.workspace, true, true});
  return uses;
}

bool conflict(const Plan& plan, const PlanStep& one, const PlanStep& other) {
  return overwrites(plan, one, other) || overwrites(plan, other, one);
}

bool Plan::touches(const PlanStep& step, TensorId id) const {
  const TensorId owner = root(id);
  return std::ranges::any_of(tensors_of(step), [&](const TensorUse& use) {
    return use.id != kNoTensor && root(use.id) == owner;
  });
}

}  // namespace trainyard

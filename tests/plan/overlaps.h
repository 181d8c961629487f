// Steps that may run at once, and what they have in common.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace trainyard::test {

[[nodiscard]] inline bool is_backward(const PlanStep& step) {
  return step.pass == Pass::backward_data || step.pass == Pass::backward_parameters;
}

[[nodiscard]] inline std::vector<TensorId> read_by(const PlanStep& step) {
  std::vector<TensorId> ids = step.inputs;
  if (is_backward(step) && !step.form.loss) {
    ids.insert(ids.end(), step.outputs.begin(), step.outputs.end());
    ids.push_back(step.reserve);
  }
  ids.insert(ids.end(), step.output_gradients.begin(), step.output_gradients.end());
  return ids;
}

[[nodiscard]] inline std::vector<TensorId> written_by(const PlanStep& step) {
  const bool copies = step.kind != PlanStep::Kind::op;
  std::vector<TensorId> ids{step.workspace};
  if (step.form.adds_layer_bias()) ids.push_back(step.inputs[0]);
  if (copies || !is_backward(step) || step.form.loss) {
    ids.insert(ids.end(), step.outputs.begin(), step.outputs.end());
    ids.push_back(step.reserve);
  }
  for (const auto* list : {&step.input_gradients, &step.parameter_gradients}) {
    ids.insert(ids.end(), list->begin(), list->end());
  }
  return ids;
}

/// Whether tensors of the two lists have bytes of the transient arena in common.
[[nodiscard]] inline bool meet(const Plan& plan, const std::vector<TensorId>& one,
                               const std::vector<TensorId>& other) {
  const auto transient = [&](TensorId id) {
    return id != kNoTensor && !plan.tensors[plan.root(id)].input && !plan.tensors[id].gradient_of;
  };
  return std::ranges::any_of(one, [&](TensorId a) {
    return transient(a) && std::ranges::any_of(other, [&](TensorId b) {
             if (!transient(b)) return false;
             const PlanTensor &left = plan.tensors[a], &right = plan.tensors[b];
             return left.offset < right.offset + right.bytes &&
                    right.offset < left.offset + left.bytes;
           });
  });
}

/// Pairs of steps that may overlap, of which one writes what the other reads or writes.
[[nodiscard]] inline std::vector<std::string> overlapping_conflicts(const Plan& plan) {
  std::vector<std::string> found;
  for (std::size_t side = 0; side < plan.steps.size(); ++side) {
    const PlanStep& step = plan.steps[side];
    if (!step.form.on_side_queue()) continue;
    for (std::size_t index = side + 1; index < plan.steps.size(); ++index) {
      const PlanStep& later = plan.steps[index];
      if (later.awaits >= static_cast<std::int32_t>(side)) break;
      if (later.form.on_side_queue()) continue;  // these run one after the other
      if (meet(plan, written_by(later), read_by(step)) ||
          meet(plan, written_by(later), written_by(step)) ||
          meet(plan, read_by(later), written_by(step))) {
        found.push_back(name_of(plan, later) + " may overlap " + name_of(plan, step) +
                        ", and one writes what the other uses");
      }
    }
  }
  return found;
}

}  // namespace trainyard::test

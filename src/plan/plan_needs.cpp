#include <algorithm>
#include <string>

#include "base/error.h"
#include "plan/plan.h"

namespace trainyard {
namespace {

TensorId add_bytes(Plan& plan, std::string name, std::size_t bytes) {
  plan.tensors.push_back({.name = std::move(name), .bytes = bytes});
  return static_cast<TensorId>(plan.tensors.size()) - 1;
}

/// A reserve is made by forward_train and used by the backward steps of its node.
void add_reserves(Plan& plan, std::span<const StepNeeds> needs) {
  std::vector<TensorId> reserve_of(plan.laid_out.graph.nodes.size(), kNoTensor);
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    PlanStep& step = plan.steps[index];
    if (step.kind != PlanStep::Kind::op) continue;
    if (step.pass == Pass::forward_train && needs[index].reserve > 0) {
      const std::string& path = plan.laid_out.graph.nodes[step.node].path;
      reserve_of[step.node] = add_bytes(plan, path + " reserve", needs[index].reserve);
    }
    step.reserve = reserve_of[step.node];
  }
}

/// Steps that run beside do so one after the other, so they share one workspace.
void add_workspaces(Plan& plan, std::span<const StepNeeds> needs) {
  TensorId beside = kNoTensor;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    PlanStep& step = plan.steps[index];
    const std::size_t bytes = needs[index].workspace;
    if (bytes == 0) continue;
    if (step.beside && beside != kNoTensor) {
      step.workspace = beside;
      plan.tensors[beside].bytes = std::max(plan.tensors[beside].bytes, bytes);
      continue;
    }
    const std::string name = step.beside ? "beside" : name_of(plan, step);
    step.workspace = add_bytes(plan, name + " workspace", bytes);
    if (step.beside) beside = step.workspace;
  }
}

}  // namespace

void complete(Plan& plan, std::span<const StepNeeds> needs) {
  TY_CHECK(needs.size() == plan.steps.size(), "every step states its needs");
  add_reserves(plan, needs);
  add_workspaces(plan, needs);
  merge_in_place(plan);
  plan_memory(plan);
}

std::vector<StepNeeds> largest_needs(const Plan& plan) {
  std::vector<StepNeeds> needs(plan.steps.size());
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    const PlanStep& step = plan.steps[index];
    if (step.kind != PlanStep::Kind::op) continue;
    const Signature& signature = plan.laid_out.graph.nodes[step.node].signature;
    const bool sums =
        !signature.parameters.empty() || !signature.statistics.empty() || step.sums_bias;
    const bool reduces = sums && !step.sibling;  // the first of siblings has the cap of all
    needs[index].workspace = std::max(reduces ? plan.target.workspace_cap : 0,
                                      static_cast<std::size_t>(signature.workspace_bytes));
    if (step.pass == Pass::forward_train) {
      needs[index].reserve = static_cast<std::size_t>(signature.saved_bytes);
    }
  }
  return needs;
}

}  // namespace trainyard

#include <algorithm>
#include <deque>

#include "plan/tensor_uses.h"

namespace trainyard {
namespace {

/// Steps that run beside and are not awaited, in order.
using Running = std::deque<std::int32_t>;

bool can_run_beside(const Plan& plan, const PlanStep& step) {
  return step.kind == PlanStep::Kind::op && step.pass == Pass::backward_parameters &&
         plan.laid_out.graph.nodes[step.node].op->contract().gradients_beside;
}

/// True for a step that reads or adds to what steps that run beside have written.
bool reads_gradients(const Plan& plan, const PlanStep& step) {
  return step.kind == PlanStep::Kind::unpack ||
         (step.kind == PlanStep::Kind::accumulate && plan.tensors[step.outputs[0]].gradient_of);
}

bool conflicts_with_any(const Plan& plan, const PlanStep& step, const Running& running) {
  return std::ranges::any_of(
      running, [&](std::int32_t index) { return conflict(plan, step, plan.steps[index]); });
}

}  // namespace

void run_beside(Plan& plan) {
  if (!plan.target.gradients_beside) return;
  Running running;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    PlanStep& step = plan.steps[index];
    step.beside = can_run_beside(plan, step);
    while (!running.empty() &&
           (reads_gradients(plan, step) || conflicts_with_any(plan, step, running) ||
            (step.beside && running.size() == plan.target.most_beside))) {
      plan.steps[siblings_of(plan, index).first].awaits = running.front();
      running.pop_front();
    }
    if (!step.beside) continue;
    running.push_back(static_cast<std::int32_t>(index));
  }
}

}  // namespace trainyard

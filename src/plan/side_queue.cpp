// Gains on a GPU: ResNet-20 in bf16, batch 128, takes 1.270 ms a step instead of 1.397 on an H200;
// 1.286 with one step at once on the side queue, 1.252 with eight (docs/results/log/gpu.md,
// `probe_step`).
#include <algorithm>
#include <deque>

#include "plan/passes.h"

namespace trainyard {
namespace {

/// Steps on the side queue that are not awaited, in order.
using Running = std::deque<std::int32_t>;

/// True for a step that reads or adds to what steps of the side queue have written.
bool reads_gradients(const Plan& plan, const PlanStep& step) {
  return step.kind == PlanStep::Kind::unpack ||
         (step.kind == PlanStep::Kind::accumulate && plan.tensors[step.outputs[0]].gradient_of);
}

bool conflicts_with_any(const Plan& plan, const PlanStep& step, const Running& running) {
  return std::ranges::any_of(
      running, [&](std::int32_t index) { return conflict(plan, step, plan.steps[index]); });
}

}  // namespace

void use_side_queue(Plan& plan) {
  begin(plan, PlanPass::use_side_queue);
  Running running;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    PlanStep& step = plan.steps[index];
    const bool side = step.pass == Pass::backward_parameters && plan.can(step, Can::use_side_queue);
    while (!running.empty() &&
           (reads_gradients(plan, step) || conflicts_with_any(plan, step, running) ||
            (side && running.size() == plan.target.most_on_side_queue))) {
      plan.steps[siblings_of(plan, index).first].awaits = running.front();
      running.pop_front();
    }
    if (!side) continue;
    step.form.queue = StepQueue::side;
    running.push_back(static_cast<std::int32_t>(index));
  }
}

}  // namespace trainyard

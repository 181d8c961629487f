// Gains on a GPU: 32 of 160 launches of a step of MiniGoogLeNet; 2.04 to 1.93 ms on an H200 by the
// rates of its nodes, not measured (docs/results/log/gpu.md).
#include <algorithm>
#include <cstddef>
#include <vector>

#include "plan/passes.h"
#include "tensor/launch_limits.h"

namespace trainyard {
namespace {

using Steps = std::vector<PlanStep>;

/// The concatenation of which the output of the step's batch norm is a slice; -1 for other steps,
/// and for the end of a residual block.
ValueId concatenation_of(const Plan& plan, const PlanStep& step) {
  if (!plan.can(step, Can::join_siblings)) return -1;
  return plan.laid_out.slices[plan.node_of(step).outputs[0]].whole;
}

/// True for a batch norm with a ReLU.
bool has_relu(const Plan& plan, const PlanStep& step) {
  return plan.node_of(step).op->contract().backward_reads_outputs;
}

/// True for the same pass, by the same functors, of batch norms of one concatenation.
bool alike(const Plan& plan, const PlanStep& one, const PlanStep& other) {
  const auto wants_gradient = [](const PlanStep& step) {
    return !step.input_gradients.empty() && step.input_gradients[0] != kNoTensor;
  };
  return one.pass == other.pass && concatenation_of(plan, one) == concatenation_of(plan, other) &&
         has_relu(plan, one) == has_relu(plan, other) &&
         one.form.adds_gradient == other.form.adds_gradient &&
         wants_gradient(one) == wants_gradient(other);
}

/// True if no step of [begin, end) conflicts with one of [others, end_of_others).
bool may_pass(const Plan& plan, Steps::iterator begin, Steps::iterator end, Steps::iterator others,
              Steps::iterator end_of_others) {
  return std::none_of(begin, end, [&](const PlanStep& step) {
    return std::any_of(others, end_of_others,
                       [&](const PlanStep& other) { return conflict(plan, step, other); });
  });
}

/// Steps in a row that are siblings of the first.
struct Group {
  Steps::iterator begin, end;
};

/// Moves the step at `next` up to the group, or else the group down to it. False if neither may
/// pass the steps between.
bool join(Plan& plan, Group& group, Steps::iterator next) {
  if (may_pass(plan, next, next + 1, group.end, next)) {
    std::rotate(group.end, next, next + 1);
    ++group.end;
  } else if (may_pass(plan, group.begin, group.end, group.end, next)) {
    group.begin = std::rotate(group.begin, group.end, next);
    group.end = next + 1;
  } else {
    return false;
  }
  (group.end - 1)->sibling = true;
  return true;
}

/// The group of the step at `first`, which may have moved down.
Group gather(Plan& plan, Steps::iterator first) {
  Group group{first, first + 1};
  for (auto next = group.end; next != plan.steps.end(); ++next) {
    if (group.end - group.begin == kMostSiblings) break;
    if (!next->sibling && alike(plan, *group.begin, *next)) join(plan, group, next);
  }
  return group;
}

}  // namespace

void join_siblings(Plan& plan) {
  begin(plan, PlanPass::join_siblings);
  for (auto step = plan.steps.begin(); step != plan.steps.end();) {
    const auto after = step + 1;
    const bool gathered = step->sibling || (after != plan.steps.end() && after->sibling);
    const bool moved =
        !gathered && concatenation_of(plan, *step) >= 0 && gather(plan, step).begin != step;
    if (!moved) ++step;  // else another one is here
  }
}

StepRange siblings_of(const Plan& plan, std::size_t index) {
  StepRange range{index, index};
  while (plan.steps[range.first].sibling) --range.first;
  while (range.last + 1 < plan.steps.size() && plan.steps[range.last + 1].sibling) ++range.last;
  return range;
}

}  // namespace trainyard

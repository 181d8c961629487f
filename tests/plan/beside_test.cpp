// Steps of parameters' gradients that run beside the steps that follow them.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "fake_network.h"
#include "overlaps.h"
#include "plan/plan.h"
#include "step_named.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

FakeTraits conv_beside() {
  FakeTraits traits = conv_like();
  traits.contract.adds_gradient = true;
  traits.contract.gradients_beside = true;
  return traits;
}

Target target_beside() {
  Target target = reference_target(Precision::fp32);
  target.adds_gradients = true;
  target.gradients_beside = true;
  return target;
}

/// Complete, with a workspace for every step.
Plan planned_beside(FakeNetwork& network, const Target& target) {
  Plan plan = training_plan(network, target);
  run_beside(plan);
  complete(plan, std::vector<StepNeeds>(plan.steps.size(), {.workspace = 300}));
  return plan;
}

Plan chain(int count, const FakeTraits& layer, const Target& target) {
  FakeNetwork network({2, 4});
  ValueId value = 0;
  for (int i = 0; i < count; ++i) value = network(layer, {value});
  return planned_beside(network, target);
}

}  // namespace

TEST_CASE("gradients of parameters run beside, two at once") {
  const Plan plan = chain(4, conv_beside(), target_beside());
  for (const PlanStep& step : plan.steps) {
    CHECK(step.beside == (step.pass == Pass::backward_parameters));
  }
  CHECK(step_named(plan, "conv4 backward_parameters").awaits == -1);
  CHECK(step_named(plan, "conv3 backward_parameters").awaits == -1);
  CHECK(step_named(plan, "conv2 backward_parameters").awaits ==
        index_of(plan, "conv4 backward_parameters"));
  CHECK(step_named(plan, "conv1 backward_parameters").awaits ==
        index_of(plan, "conv3 backward_parameters"));
  CHECK(text_of(plan).find(" beside\n") != std::string::npos);
}

TEST_CASE("as many at once as the target says") {
  Target target = target_beside();
  target.most_beside = 1;
  const Plan one = chain(4, conv_beside(), target);
  CHECK(step_named(one, "conv3 backward_parameters").awaits ==
        index_of(one, "conv4 backward_parameters"));
  target.most_beside = 3;
  const Plan three = chain(4, conv_beside(), target);
  CHECK(step_named(three, "conv2 backward_parameters").awaits == -1);
  CHECK(step_named(three, "conv1 backward_parameters").awaits ==
        index_of(three, "conv4 backward_parameters"));
}

TEST_CASE("they share the largest workspace that one of them needs, and with no other step") {
  FakeNetwork network({2, 4});
  network(conv_beside(), {network(conv_beside(), {0})});
  Plan plan = training_plan(network, target_beside());
  run_beside(plan);
  std::vector<StepNeeds> needs;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    needs.push_back({.workspace = 100 * (index + 1)});
  }
  complete(plan, needs);
  const TensorId shared = step_named(plan, "conv1 backward_parameters").workspace;
  const auto last = static_cast<std::size_t>(index_of(plan, "conv1 backward_parameters"));
  CHECK(plan.tensors[shared].bytes == needs[last].workspace);
  for (const PlanStep& step : plan.steps) CHECK(step.beside == (step.workspace == shared));
}

TEST_CASE("they do so where the op and the target can") {
  Target target = target_beside();
  for (const PlanStep& step : chain(4, conv_like(), target).steps) CHECK_FALSE(step.beside);
  target.gradients_beside = false;
  for (const PlanStep& step : chain(4, conv_beside(), target).steps) CHECK_FALSE(step.beside);
}

TEST_CASE("a sum of gradients of shared parameters awaits them") {
  FakeNetwork network({2, 4});
  const ValueId first = network(conv_beside(), {0});
  network(conv_beside(), {first});
  network.graph.nodes[1].parameters_of = network.graph.nodes[0].path;
  const Plan plan = planned_beside(network, target_beside());
  const auto sum = std::ranges::find_if(plan.steps, [&](const PlanStep& step) {
    return step.kind == PlanStep::Kind::accumulate && plan.tensors[step.outputs[0]].gradient_of;
  });
  REQUIRE(sum != plan.steps.end());
  CHECK(sum->awaits == index_of(plan, "conv1 backward_parameters"));
}

TEST_CASE("no step writes what one that it may overlap reads or writes") {
  std::mt19937 random(7);
  int beside = 0;
  for (int trial = 0; trial < 40; ++trial) {
    FakeNetwork network({2, static_cast<std::int64_t>(1 + random() % 40), 3, 3});
    std::vector<ValueId> values{network(conv_beside(), {0})};
    for (int i = 0; i < 20; ++i) {
      const ValueId from = values[random() % values.size()];
      const bool adds = random() % 3 == 0;
      values.push_back(adds ? network(add_like(), {from, values[random() % values.size()]})
                       : random() % 3 == 0 ? network(relu_like(), {from})
                                           : network(conv_beside(), {from}));
    }
    const Plan plan = planned_beside(network, target_beside());
    CHECK(test::overlapping_conflicts(plan).empty());
    beside += static_cast<int>(std::ranges::count(plan.steps, true, &PlanStep::beside));
  }
  CHECK(beside > 100);
}

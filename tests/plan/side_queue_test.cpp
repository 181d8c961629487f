// Steps of parameters' gradients that overlap the steps that follow them.
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

FakeTraits overlapping_conv() {
  FakeTraits traits = conv_like();
  traits.contract.can = {Can::add_gradient, Can::use_side_queue};
  return traits;
}

Target overlapping_target() {
  Target target = reference_target(Precision::fp32);
  target.can.set(Can::add_gradient).set(Can::use_side_queue);
  return target;
}

/// Complete, with a workspace for every step.
Plan planned(FakeNetwork& network, const Target& target) {
  Plan plan = training_plan(network, target);
  complete(plan, std::vector<StepNeeds>(plan.steps.size(), {.workspace = 300}));
  return plan;
}

Plan chain(int count, const FakeTraits& layer, const Target& target) {
  FakeNetwork network({2, 4});
  ValueId value = 0;
  for (int i = 0; i < count; ++i) value = network(layer, {value});
  return planned(network, target);
}

}  // namespace

TEST_CASE("gradients of parameters run on the side queue, two at once") {
  const Plan plan = chain(4, overlapping_conv(), overlapping_target());
  for (const PlanStep& step : plan.steps) {
    CHECK(step.form.on_side_queue() == (step.pass == Pass::backward_parameters));
  }
  CHECK(step_named(plan, "conv4 backward_parameters").awaits == -1);
  CHECK(step_named(plan, "conv3 backward_parameters").awaits == -1);
  CHECK(step_named(plan, "conv2 backward_parameters").awaits ==
        index_of(plan, "conv4 backward_parameters"));
  CHECK(step_named(plan, "conv1 backward_parameters").awaits ==
        index_of(plan, "conv3 backward_parameters"));
  CHECK(text_of(plan).find(" side_queue\n") != std::string::npos);
}

TEST_CASE("as many at once as the target says") {
  Target target = overlapping_target();
  target.most_on_side_queue = 1;
  const Plan one = chain(4, overlapping_conv(), target);
  CHECK(step_named(one, "conv3 backward_parameters").awaits ==
        index_of(one, "conv4 backward_parameters"));
  target.most_on_side_queue = 3;
  const Plan three = chain(4, overlapping_conv(), target);
  CHECK(step_named(three, "conv2 backward_parameters").awaits == -1);
  CHECK(step_named(three, "conv1 backward_parameters").awaits ==
        index_of(three, "conv4 backward_parameters"));
}

TEST_CASE("they share the largest workspace that one of them needs, and with no other step") {
  FakeNetwork network({2, 4});
  network(overlapping_conv(), {network(overlapping_conv(), {0})});
  Plan plan = training_plan(network, overlapping_target());
  std::vector<StepNeeds> needs;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    needs.push_back({.workspace = 100 * (index + 1)});
  }
  complete(plan, needs);
  const TensorId shared = step_named(plan, "conv1 backward_parameters").workspace;
  const auto last = static_cast<std::size_t>(index_of(plan, "conv1 backward_parameters"));
  CHECK(plan.tensors[shared].bytes == needs[last].workspace);
  for (const PlanStep& step : plan.steps)
    CHECK(step.form.on_side_queue() == (step.workspace == shared));
}

TEST_CASE("they do so where the op and the target can") {
  Target target = overlapping_target();
  for (const PlanStep& step : chain(4, conv_like(), target).steps)
    CHECK_FALSE(step.form.on_side_queue());
  target.can.set(Can::use_side_queue, false);
  for (const PlanStep& step : chain(4, overlapping_conv(), target).steps)
    CHECK_FALSE(step.form.on_side_queue());
}

TEST_CASE("a sum of gradients of shared parameters awaits them") {
  FakeNetwork network({2, 4});
  const ValueId first = network(overlapping_conv(), {0});
  network(overlapping_conv(), {first});
  network.graph.nodes[1].parameters_of = network.graph.nodes[0].path;
  const Plan plan = planned(network, overlapping_target());
  const auto sum = std::ranges::find_if(plan.steps, [&](const PlanStep& step) {
    return step.kind == PlanStep::Kind::accumulate && plan.tensors[step.outputs[0]].gradient_of;
  });
  REQUIRE(sum != plan.steps.end());
  CHECK(sum->awaits == index_of(plan, "conv1 backward_parameters"));
}

TEST_CASE("no step writes what one that it may overlap reads or writes") {
  std::mt19937 random(7);
  int on_side_queue = 0;
  for (int trial = 0; trial < 40; ++trial) {
    FakeNetwork network({2, static_cast<std::int64_t>(1 + random() % 40), 3, 3});
    std::vector<ValueId> values{network(overlapping_conv(), {0})};
    for (int i = 0; i < 20; ++i) {
      const ValueId from = values[random() % values.size()];
      const bool adds = random() % 3 == 0;
      values.push_back(adds ? network(add_like(), {from, values[random() % values.size()]})
                       : random() % 3 == 0 ? network(relu_like(), {from})
                                           : network(overlapping_conv(), {from}));
    }
    const Plan plan = planned(network, overlapping_target());
    CHECK(test::overlapping_conflicts(plan).empty());
    on_side_queue += static_cast<int>(std::ranges::count_if(
        plan.steps, [](const PlanStep& step) { return step.form.on_side_queue(); }));
  }
  CHECK(on_side_queue > 100);
}

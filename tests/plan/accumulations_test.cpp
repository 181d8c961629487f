// Sums of gradients that the later of two steps adds to the earlier one's.
#include <doctest/doctest.h>

#include <algorithm>

#include "fake_network.h"
#include "graph/build.h"
#include "graph/include.h"
#include "plan/passes.h"
#include "plan/plan.h"
#include "plan/work.h"
#include "step_named.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

FakeTraits adding_conv() {
  FakeTraits traits = conv_like();
  traits.contract.can = {Can::add_gradient};
  return traits;
}

Target adding_target() {
  Target target = reference_target(Precision::fp32);
  target.can.set(Can::add_gradient);
  return target;
}

std::ptrdiff_t accumulations(const Plan& plan) {
  return std::ranges::count(plan.steps, PlanStep::Kind::accumulate, &PlanStep::kind);
}

/// Convolutions that read one stem, and their sum.
Plan branches(int count, const FakeTraits& branch, const Target& target) {
  FakeNetwork network({2, 4});
  const ValueId stem = network(conv_like(), {0});
  std::vector<ValueId> ends;
  for (int i = 0; i < count; ++i) ends.push_back(network(branch, {stem}));
  network(add_like(), ends);
  return training_plan(network, target);
}

/// A stem, and the sum of it and of what `branch` makes of it.
Plan residual_unit(const std::vector<FakeTraits>& branch, const Target& target) {
  FakeNetwork network({2, 4});
  const ValueId stem = network(conv_like(), {0});
  ValueId end = stem;
  for (const FakeTraits& traits : branch) end = network(traits, {end});
  network(add_like(), {end, stem});
  return training_plan(network, target);
}

}  // namespace

TEST_CASE("the later of two data gradients is added to the earlier one") {
  for (const int count : {2, 3}) {
    Plan plan = branches(count, adding_conv(), adding_target());
    CHECK(accumulations(plan) == 0);
    const PlanStep& first = step_named(plan, "conv" + std::to_string(count + 1) + " backward_data");
    const PlanStep& last = step_named(plan, "conv2 backward_data");
    CHECK_FALSE(first.form.adds_gradient);
    CHECK(last.form.adds_gradient);
    CHECK(plan.root(last.input_gradients[0]) == first.input_gradients[0]);
    CHECK(step_named(plan, "conv1 backward_parameters").output_gradients[0] ==
          last.input_gradients[0]);
    complete(plan, std::vector<StepNeeds>(plan.steps.size()));
    CHECK(text_of(plan).find(" din+=") != std::string::npos);
  }
}

TEST_CASE("what is added to is read and written by the step, which moves fewer bytes") {
  const Plan adds = branches(2, adding_conv(), adding_target());
  const Plan sums = branches(2, adding_conv(), reference_target(Precision::fp32));
  CHECK(accumulations(sums) == 1);
  // Instead of the step's writing, and two reads and a write of [2, 4] in f32: a read and a write.
  CHECK(bytes_moved(sums) - bytes_moved(adds) == 2 * 4 * sizeof(float) * 2);
}

TEST_CASE("sums stay where the op or the target cannot add") {
  CHECK(accumulations(branches(3, conv_like(), adding_target())) == 2);
  CHECK(accumulations(branches(3, adding_conv(), reference_target(Precision::fp32))) == 2);
}

TEST_CASE("a residual's gradient is added to once nothing else reads it") {
  // Without a layer between, the convolution's own output gradient is what it would add to.
  CHECK(accumulations(residual_unit({adding_conv()}, adding_target())) == 1);
  Plan plan = residual_unit({adding_conv(), relu_like()}, adding_target());
  CHECK(accumulations(plan) == 0);
  complete(plan, std::vector<StepNeeds>(plan.steps.size()));
  const PlanStep& adds = step_named(plan, "conv2 backward_data");
  CHECK(adds.form.adds_gradient);
  const PlanTensor& read = plan.tensors[adds.output_gradients[0]];
  const PlanTensor& sum = plan.tensors[adds.input_gradients[0]];
  CHECK(read.offset != sum.offset);  // the activation's gradient does not take the sum's place
}

TEST_CASE("no gradient of residual units or of inceptions is summed by a step of its own") {
  for (const char* const name : {"resnet_cifar", "resnet_v2_cifar", "minigooglenet"}) {
    CAPTURE(name);
    const std::string path = std::string(TY_SOURCE_DIR) + "/models/" + name + ".yaml";
    const Graph graph = build_graph(load_network(path), {.batch = 128});
    for (const Target& target : {cuda_target(Precision::bf16), cpu_target(true)}) {
      const Plan plan = plan_for(graph, target, {.loss = graph.output, .kept = {graph.output}});
      CHECK(accumulations(plan) == 0);
      CHECK(std::ranges::count_if(
                plan.steps, [](const PlanStep& step) { return step.form.adds_gradient; }) >= 9);
    }
  }
}

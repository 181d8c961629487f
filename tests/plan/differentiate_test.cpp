#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "fake_network.h"
#include "plan/plan.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

std::vector<std::string> step_names(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) names.push_back(name_of(plan, step));
  return names;
}

bool has_step(const Plan& plan, const std::string& name) {
  const auto names = step_names(plan);
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("the first layer's input gradient is not computed") {
  FakeNetwork network({2, 4});
  network(conv_like(), {network(conv_like(), {0})});
  const Plan plan = training_plan(network);
  CHECK(has_step(plan, "conv1 backward_parameters"));
  CHECK_FALSE(has_step(plan, "conv1 backward_data"));
  CHECK(has_step(plan, "conv2 backward_data"));
}

TEST_CASE("an evaluation plan has only forward_eval steps") {
  FakeNetwork network({2, 4});
  network(relu_like(), {network(conv_like(), {0})});
  const Plan plan = plan_for(network.graph, reference_target(Precision::fp32),
                             {.train = false, .kept = {network.graph.output}});
  CHECK(step_names(plan) == std::vector<std::string>{"conv1 forward_eval", "act2 forward_eval"});
}

TEST_CASE("gradients of a value with two readers are summed once") {
  FakeNetwork network({2, 4});
  const ValueId stem = network(conv_like(), {0});
  const ValueId branch = network(conv_like(), {stem});
  network(add_like(), {branch, stem});
  const Plan plan = training_plan(network);
  const auto names = step_names(plan);
  CHECK(std::count(names.begin(), names.end(), "conv1 accumulate") == 1);
  CHECK_FALSE(has_step(plan, "sum3 backward_data"));
}

TEST_CASE("a gradient shared by two sums is copied before it is added to") {
  // Both inputs of the outer sum are the inner sum: its gradient arrives twice, shared both times.
  FakeNetwork network({2, 4});
  const ValueId stem = network(conv_like(), {0});
  const ValueId inner = network(add_like(), {stem, stem});
  network(add_like(), {inner, inner});
  const Plan plan = training_plan(network);
  std::map<TensorId, int> written;
  for (const PlanStep& step : plan.steps) {
    if (step.kind != PlanStep::Kind::accumulate) continue;
    CHECK(plan.root(step.inputs[0]) != plan.root(step.outputs[0]));
    ++written[plan.root(step.outputs[0])];
  }
  CHECK(written.size() >= 1);
}

TEST_CASE("a frozen node computes no gradient of its parameters but passes its input's on") {
  FakeNetwork network({2, 4});
  const ValueId first = network(conv_like(), {0});
  network(conv_like(), {first});
  network.graph.nodes[1].frozen = true;
  const Plan plan = training_plan(network);
  CHECK_FALSE(has_step(plan, "conv2 backward_parameters"));
  CHECK(has_step(plan, "conv2 backward_data"));
}

TEST_CASE(
    "a frozen node that computes all gradients in one step leaves the gradient block untouched") {
  FakeTraits norm = conv_like();
  norm.contract.synced_backward = true;
  FakeNetwork network({2, 4});
  network(norm, {network(conv_like(), {0})});
  network.graph.nodes[1].frozen = true;
  const Plan plan = training_plan(network);
  const auto backward = std::ranges::find_if(plan.steps, [](const PlanStep& step) {
    return step.pass == Pass::backward_data && step.node == 1;
  });
  REQUIRE(backward != plan.steps.end());
  CHECK(backward->parameter_gradients.size() == 1);
}

TEST_CASE(
    "gradients of shared parameters are added to those in the block, one node after another") {
  FakeNetwork network({2, 4});
  network(conv_like(), {network(conv_like(), {network(conv_like(), {0})})});
  network.graph.nodes[1].parameters_of = network.graph.nodes[2].parameters_of = "conv1";
  const Plan plan = training_plan(network);
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) {
    if (step.pass != Pass::backward_parameters && step.kind != PlanStep::Kind::accumulate) continue;
    names.push_back(name_of(plan, step));
    const bool adds = step.kind == PlanStep::Kind::op && step.node < 2;
    CHECK(step.parameter_gradients.size() == (adds ? 1 : 0));
    if (step.kind != PlanStep::Kind::accumulate) continue;
    CHECK(plan.tensors[step.outputs[0]].gradient_of->node == 0);
  }
  CHECK(names == std::vector<std::string>{"conv3 backward_parameters", "conv2 backward_parameters",
                                          "conv2 accumulate", "conv1 backward_parameters",
                                          "conv1 accumulate"});
}

TEST_CASE("backward reads only what the op traits name") {
  FakeNetwork network({2, 4});
  network(relu_like(), {network(conv_like(), {0})});
  const Plan plan = training_plan(network);
  for (const PlanStep& step : plan.steps) {
    if (name_of(plan, step) != "act2 backward_data") continue;
    CHECK(step.inputs[0] == kNoTensor);
    CHECK(step.outputs[0] != kNoTensor);
  }
}

TEST_CASE("a concatenation of slices needs no step, forward or backward") {
  const FakeTraits branch{.type = "scale",
                          .name = "branch",
                          .contract = {.backward_reads_outputs = true,
                                       .can = {Can::write_slices},
                                       .layouts = Contract::Layouts::any},
                          .parameter_elements = 10};
  FakeNetwork network({2, 8, 4, 4});
  const ValueId left = network(branch, {0}), right = network(branch, {0});
  const ValueId whole = network({.type = "concat", .output = {2, 16, 4, 4}}, {left, right});
  network(conv_like(), {whole});
  Plan plan = training_plan(network, cuda_target(Precision::fp32));
  complete(plan, std::vector<StepNeeds>(plan.steps.size()));
  CHECK_FALSE(has_step(plan, "concat3 forward_train"));
  CHECK_FALSE(has_step(plan, "concat3 backward_data"));
  const auto tensor = [&](ValueId value) { return plan.values[plan.laid_out.renamed[value]]; };
  CHECK(plan.tensors[tensor(left)].offset == plan.tensors[tensor(whole)].offset);
  CHECK(plan.tensors[tensor(right)].offset ==
        plan.tensors[tensor(whole)].offset + 8 * sizeof(float));
  const auto gradient_of = [&](const std::string& name) {
    for (const PlanStep& step : plan.steps) {
      if (name_of(plan, step) == name) return plan.tensors[step.output_gradients[0]];
    }
    return PlanTensor{};
  };
  const PlanTensor first = gradient_of("branch1 backward_parameters");
  const PlanTensor second = gradient_of("branch2 backward_parameters");
  CHECK(plan.tensors[first.alias_of].name == "conv4 gradient");
  CHECK(second.alias_of == first.alias_of);
  CHECK(second.offset == first.offset + 8 * sizeof(float));
  CHECK(first.layout == channel_slice(plan.tensors[first.alias_of].layout, 0, 8));
}

// Workspaces and reserves, and plans for a device that is not available.
#include <doctest/doctest.h>

#include <string>

#include "fake_network.h"
#include "plan/plan.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {}  // namespace

TEST_CASE("a workspace lives only for its step, a reserve from forward to backward") {
  FakeNetwork network({2, 4});
  network(relu_like(), {network(conv_like(), {0})});
  Plan plan = training_plan(network, reference_target(Precision::fp32));
  std::vector<StepNeeds> needs(plan.steps.size(), {.workspace = 1000});
  needs[1].reserve = 300;  // the activation's
  complete(plan, needs);
  const PlanStep& forward = plan.steps[1];
  REQUIRE(name_of(plan, forward) == "act2 forward_train");
  REQUIRE(forward.reserve != kNoTensor);
  CHECK(plan.tensors[forward.reserve].bytes == 300);
  for (const PlanStep& step : plan.steps) {
    REQUIRE(step.workspace != kNoTensor);
    CHECK(plan.tensors[step.workspace].bytes == 1000);
    CHECK(step.reserve == (step.node == forward.node ? forward.reserve : kNoTensor));
  }
  // Workspaces of different steps share bytes; separately they would take 1000 bytes per step.
  CHECK(plan.transient_bytes < 1024 * plan.steps.size());
}

TEST_CASE(
    "without its device a plan assumes the cap for steps with parameters, and nothing for others") {
  FakeNetwork network({2, 4});
  network(relu_like(), {network(conv_like(), {0})});
  const Plan plan = training_plan(network, cuda_target(Precision::bf16));
  const std::vector<StepNeeds> needs = largest_needs(plan);
  REQUIRE(needs.size() == plan.steps.size());
  for (std::size_t index = 0; index < needs.size(); ++index) {
    const bool multiplies = name_of(plan, plan.steps[index]).find("conv1") == 0;
    CHECK(needs[index].workspace == (multiplies ? plan.target.workspace_cap : 0));
  }
}

TEST_CASE("activations and gradients have the storage type, losses the arithmetic type") {
  FakeNetwork network({2, 4});
  network(conv_like(), {network(conv_like(), {0})});
  FakeTraits loss = loss_like(2);
  loss.contract.arithmetic_outputs = true;
  const ValueId losses = network(loss, {network.graph.output});
  const Plan plan =
      plan_for(network.graph, cuda_target(Precision::fp16), {.loss = losses, .kept = {losses}});
  CHECK(plan.tensors[plan.values[losses]].type == DType::f32);
  int gradients = 0;
  for (const PlanTensor& tensor : plan.tensors) {
    if (&tensor == &plan.tensors[plan.values[losses]]) continue;
    CHECK(tensor.type == DType::f16);
    CHECK(tensor.bytes == static_cast<std::size_t>(span_elements(tensor.layout)) * 2);
    gradients += tensor.name.find("gradient") != std::string::npos ? 1 : 0;
  }
  CHECK(gradients == 2);
}

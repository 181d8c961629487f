// ReLUs that become part of the layer before them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "layer_network.h"
#include "step_named.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

const Target kGpu = cuda_target(Precision::fp32);

/// Steps of layers and activations, in their order.
std::vector<std::string> layer_steps(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) {
    if (step.kind == PlanStep::Kind::op) names.push_back(name_of(plan, step));
  }
  return names;
}

bool has(const Plan& plan, const std::string& name) {
  return std::ranges::count(layer_steps(plan), name) == 1;
}

/// One bias's gradient: the parameter whose entry of the gradient block it is.
ParameterId entry_of(const Plan& plan, const PlanStep& relu) {
  REQUIRE(relu.parameter_gradients.size() == 1);
  REQUIRE(plan.tensors[relu.parameter_gradients[0]].gradient_of.has_value());
  return *plan.tensors[relu.parameter_gradients[0]].gradient_of;
}

}  // namespace

TEST_CASE(
    "a ReLU behind a layer with a bias is part of its step, and its gradient sums the bias's") {
  LayerNetwork network({2, 3, 4, 4});
  network.relu(network.dense(network.relu(network.conv_transpose(network.relu(network.conv(0))))));
  const Plan plan = network.plan({}, kGpu);
  const auto names = layer_steps(plan);
  const std::vector<std::string> forward(names.begin(), names.begin() + 4);
  CHECK(forward == std::vector<std::string>{
                       "conv1 and relu forward_train", "conv_transpose3 and relu forward_train",
                       "dense5 and relu forward_train", "loss7 forward_train"});
  for (const auto& [layer, relu] : std::vector<std::pair<std::string, std::string>>{
           {"conv1", "relu2"}, {"conv_transpose3", "relu4"}, {"dense5", "relu6"}}) {
    const PlanStep& cuts = step_named(plan, relu + " and bias backward_data");
    const PlanStep& products = step_named(plan, layer + " backward_parameters");
    CHECK(cuts.form.sums_layer_bias());
    CHECK_FALSE(products.form.own_bias());
    CHECK(entry_of(plan, cuts).node == products.node);
    CHECK(entry_of(plan, cuts).index == 1);
    CHECK(description_of(plan, cuts).form.sums_layer_bias());
    CHECK_FALSE(description_of(plan, products).form.own_bias());
    CHECK(description_of(plan, step_named(plan, layer + " and relu forward_train")).form.relu);
  }
}

TEST_CASE("an evaluation's layers have their ReLUs too") {
  LayerNetwork network({2, 3, 4, 4});
  const ValueId end = network.relu(network.conv(0));
  const Plan plan = plan_for(network.graph, kGpu, {.train = false, .kept = {end}});
  CHECK(layer_steps(plan) == std::vector<std::string>{"conv1 and relu forward_eval"});
}

TEST_CASE("on the CPU the ReLU is part of the step, and the layer sums its bias's gradient") {
  LayerNetwork network({2, 8, 4, 4});
  network.relu(network.dense(network.relu(network.conv(0))));
  const Plan plan = network.plan({}, cpu_target(true));
  CHECK(has(plan, "dense3 and relu forward_train"));
  CHECK(has(plan, "relu4 backward_data"));
  CHECK(step_named(plan, "dense3 backward_parameters").form.own_bias());
}

TEST_CASE(
    "a ReLU keeps its step behind other layers, where else its input is read, and where the target "
    "has it so") {
  LayerNetwork without_bias({2, 3, 4, 4});
  without_bias.relu(without_bias.conv(0, false));
  CHECK(has(without_bias.plan({}, kGpu), "relu2 forward_train"));
  LayerNetwork twice({2, 3, 4, 4});
  const ValueId read = twice.conv(0);
  twice(add_like(), {twice.relu(read), read});
  CHECK(has(twice.plan({}, kGpu), "relu2 forward_train"));
  LayerNetwork kept({2, 3, 4, 4});
  const ValueId wanted = kept.conv(0);
  kept.relu(wanted);
  CHECK(has(kept.plan({wanted}, kGpu), "relu2 forward_train"));
  LayerNetwork reference({2, 3, 4, 4});
  reference.relu(reference.conv(0));
  CHECK(has(reference.plan(), "relu2 forward_train"));
}

TEST_CASE("a frozen layer's ReLU is part of its step and sums nothing") {
  LayerNetwork network({2, 3, 4, 4});
  network.relu(network.conv(network.relu(network.conv(0))));
  network.graph.nodes[2].frozen = true;
  const Plan plan = network.plan({}, kGpu);
  CHECK(has(plan, "conv3 and relu forward_train"));
  CHECK(has(plan, "relu4 backward_data"));
  CHECK(has(plan, "relu2 and bias backward_data"));
}

TEST_CASE(
    "one gradient of a bias that two layers share goes to the block, the other is added to it") {
  LayerNetwork network({2, 4, 4, 4});
  network.relu(network.conv(network.relu(network.conv(0))));
  network.share(2, 0);
  const Plan plan = network.plan({}, kGpu);
  const PlanStep& first = step_named(plan, "relu4 and bias backward_data");
  const PlanStep& second = step_named(plan, "relu2 and bias backward_data");
  CHECK(entry_of(plan, first).node == 0);
  const TensorId apart = second.parameter_gradients[0];
  CHECK_FALSE(plan.tensors[apart].gradient_of.has_value());
  CHECK(std::ranges::count_if(plan.steps, [&](const PlanStep& step) {
          return step.kind == PlanStep::Kind::accumulate && step.inputs[0] == apart;
        }) == 1);
}

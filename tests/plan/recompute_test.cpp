// Outputs that are recomputed for the backward pass instead of being kept.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/build.h"
#include "graph/include.h"
#include "layer_network.h"
#include "plan/passes.h"
#include "step_named.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

Target recomputing(bool recomputes = true) {
  Target target = cpu_target(true);
  target.can.set(Can::recompute, recomputes);
  return target;
}

std::ptrdiff_t recomputed(const Plan& plan) {
  return std::ranges::count(plan.steps, Pass::recompute, &PlanStep::pass);
}

/// conv1, bn2, relu3, conv4, bn5, relu6, dense7.
Plan two_layers(const Target& target, bool keep_first = false) {
  LayerNetwork network({2, 16, 4, 4});
  const ValueId first = network.relu(network.bn(network.conv(0, false)));
  network.dense(network.relu(network.bn(network.conv(first, false))));
  return network.plan(keep_first ? std::vector<ValueId>{first} : std::vector<ValueId>{}, target);
}

/// Plan of a network in models/.
Plan plan_of(const std::string& name) {
  const std::string path = std::string(TY_SOURCE_DIR) + "/models/" + name + ".yaml";
  const Graph graph = build_graph(load_network(path), {.batch = 2});
  const Target target = recomputing();
  return plan_for(graph, target, {.loss = graph.output, .kept = {graph.output}});
}

std::size_t transient_bytes(Plan plan) {
  complete(plan, std::vector<StepNeeds>(plan.steps.size(), {.reserve = 64}));
  return plan.transient_bytes;
}

}  // namespace

TEST_CASE("an output is recomputed right before the backward step that first reads it") {
  const Plan plan = two_layers(recomputing());
  const std::ptrdiff_t again = index_of(plan, "bn2 recompute");
  CHECK(index_of(plan, "conv4 backward_parameters") == again + 1);
  const PlanStep& step = plan.steps[again];
  const PlanStep& forward = step_named(plan, "bn2 forward_train");
  CHECK(step.inputs == forward.inputs);
  CHECK(step.outputs[0] != forward.outputs[0]);
  CHECK(plan.steps[again + 1].inputs[0] == step.outputs[0]);
  const bool kept =
      std::any_of(plan.steps.begin() + again, plan.steps.end(),
                  [&](const auto& other) { return plan.touches(other, forward.outputs[0]); });
  CHECK_FALSE(kept);
}

TEST_CASE("the memory of what is recomputed is free in between") {
  CHECK(transient_bytes(two_layers(recomputing())) <
        transient_bytes(two_layers(recomputing(false))));
}

TEST_CASE("what the caller keeps, and all of a target that keeps outputs, is computed once") {
  CHECK(recomputed(two_layers(recomputing())) == 1);
  CHECK(recomputed(two_layers(recomputing(), true)) == 0);
  CHECK(recomputed(two_layers(recomputing(false))) == 0);
  CHECK(recomputed(two_layers(cuda_target(Precision::bf16))) == 0);
}

TEST_CASE("an output whose input nothing else reads is kept instead of the input") {
  LayerNetwork network({2, 16, 4, 4});
  network.dense(network.bn(network.conv(0, false)));
  for (Node& node : network.graph.nodes) node.frozen = node.op->type() != "dense";
  CHECK(recomputed(network.plan({}, recomputing())) == 0);
}

TEST_CASE("an evaluation recomputes nothing") {
  LayerNetwork network({2, 16, 4, 4});
  const ValueId output = network.dense(network.bn(network.conv(0, false)));
  CHECK(recomputed(plan_for(network.graph, recomputing(), {.train = false, .kept = {output}})) ==
        0);
}

TEST_CASE("all batch norms are recomputed whose outputs weight gradients read") {
  // The first one and those within the nine residual units: what ends a unit needs the unit's
  // input, and no weight gradient reads a projection.
  CHECK(recomputed(plan_of("resnet_cifar")) == 10);
}

TEST_CASE("a concatenation is recomputed if all its branches are") {
  // The stem and seven of MiniGoogLeNet's eight inceptions: an average alone reads the last one,
  // and two more concatenations have a pooled branch.
  const Plan plan = plan_of("minigooglenet");
  std::vector<TensorId> wholes;
  for (const PlanStep& step : plan.steps) {
    if (step.pass == Pass::recompute) wholes.push_back(plan.root(step.outputs[0]));
  }
  CHECK(recomputed(plan) == 15);
  std::ranges::sort(wholes);
  wholes.erase(std::unique(wholes.begin(), wholes.end()), wholes.end());
  CHECK(wholes.size() == 8);
}

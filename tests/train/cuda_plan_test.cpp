// Small networks through the plan that a GPU runs (n, h, w, c maps, padded channels, fused steps),
// on the reference device.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "graph/build.h"
#include "op_networks.h"
#include "planned_networks.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Types = std::set<std::string>;

Types types_of(const config::Node& network) {
  Types types;
  for (const Node& node : build_graph(network, {.batch = 2, .peel_activation = false}).nodes) {
    types.emplace(node.op->type());
  }
  return types;
}

/// Types in kEveryOp and kEverySequenceOp.
Types types_of_two() {
  Types types;
  for (const char* const network : {kEveryOp, kEverySequenceOp}) {
    types.merge(types_of(config::parse_yaml(network, "network")));
  }
  return types;
}

/// Networks of tests/ops/*.yaml with ops that neither has.
std::vector<TrainingGraph> further_networks() {
  const Types known = types_of_two();
  std::vector<TrainingGraph> graphs;
  for (const OpNetwork& one : op_networks()) {
    if (std::ranges::includes(known, types_of(one.network))) continue;
    graphs.push_back(training_graph(one.network, kPlannedBatch));
  }
  return graphs;
}

std::vector<TrainingGraph> planned_graphs() {
  std::vector<TrainingGraph> graphs = further_networks();
  for (const std::string& network : kPlannedNetworks) {
    graphs.push_back(training_graph(network, kPlannedBatch));
  }
  return graphs;
}

}  // namespace

TEST_CASE("two networks and those of tests/ops/*.yaml have every op of the list") {
  Types types = types_of_two();
  for (const OpNetwork& one : op_networks()) types.merge(types_of(one.network));
  for (const auto& kind : op_kinds())
    CHECK_MESSAGE(types.contains(std::string(kind.name)), kind.name);
}

TEST_CASE("ten steps with the CUDA plan equal those with the CPU's, in double") {
  for (const TrainingGraph& graph : planned_graphs()) {
    CAPTURE(graph.graph.nodes.front().path);
    const Trained cuda = train(graph, in_double(cuda_target(Precision::fp16)));
    Target unfused = reference_target(Precision::fp64);
    unfused.can.set(Can::fuse, false).set(Can::write_slices, false);
    for (const Target& other : {in_double(cpu_target(true)), unfused}) {
      CAPTURE(other.name);
      const Trained expected = train(graph, other);
      CHECK(largest_difference(cuda.losses, expected.losses) <= 1e-9);
      CHECK(largest_difference(cuda.weights, expected.weights) <= 1e-9);
      CHECK(largest_difference(cuda.running, expected.running) <= 1e-9);
    }
    CHECK(cuda.losses.front() != cuda.losses.back());
  }
}

TEST_CASE("the CUDA plan has padded maps, fused steps and reorders to plain") {
  const TrainingGraph graph = training_graph(kPlannedNetworks[0], kPlannedBatch);
  const ModelPlans plans = make_plans_without_device(graph, cuda_target(Precision::fp16));
  const Plan& plan = *plans.train;
  const auto count = [&](const auto& holds) {
    return std::count_if(plan.tensors.begin(), plan.tensors.end(), holds);
  };
  CHECK(count([](const PlanTensor& tensor) { return has_padding(tensor.layout); }) > 10);
  CHECK(text_of(plan.tensors[plan.values[0]].layout) == "nhwc");
  CHECK(std::any_of(plan.steps.begin(), plan.steps.end(),
                    [](const PlanStep& step) { return step.kind == PlanStep::Kind::reorder; }));
  CHECK(count([](const PlanTensor& tensor) {
          return tensor.name == "max_pool1 reserve" && tensor.bytes > 0;
        }) == 1);
  const Graph& planned = plan.laid_out.graph;
  const auto relus = std::count_if(planned.nodes.begin(), planned.nodes.end(),
                                   [](const Node& node) { return node.op->type() == "relu"; });
  CHECK(relus == 0);
}

TEST_CASE("fused steps and in-place concatenations change no bit in float32") {
  for (const std::string& network : kPlannedNetworks) {
    CAPTURE(network);
    const TrainingGraph graph = training_graph(network, kPlannedBatch);
    for (const Target& fused : {reference_target(Precision::fp32), cuda_target(Precision::fp32)}) {
      CAPTURE(fused.name);
      Target apart = fused;
      apart.can.set(Can::fuse, false).set(Can::write_slices, false);
      const Trained one = train(graph, fused), other = train(graph, apart);
      CHECK(one.losses == other.losses);
      CHECK(one.weights == other.weights);
      CHECK(one.running == other.running);
    }
  }
}

TEST_CASE("the CUDA plan ends residual blocks in a single step and copies no concatenation") {
  const TrainingGraph graph = training_graph(kPlannedNetworks[2], kPlannedBatch);
  const ModelPlans plans = make_plans_without_device(graph, cuda_target(Precision::fp16));
  std::map<std::string_view, int> forward;
  for (const PlanStep& step : plans.train->steps) {
    const Node& node = plans.train->laid_out.graph.nodes[step.node];
    if (step.pass == Pass::forward_train) ++forward[node.op->type()];
  }
  CHECK(forward["bn"] == 5);
  CHECK(forward["add"] == 0);
  CHECK(forward["relu"] == 0);
  CHECK(forward["concat"] == 0);
  CHECK(forward["max_pool"] == 1);
}

TEST_CASE("fp32 on the CUDA plan stays far within the spread of bf16") {
  const TrainingGraph graph = training_graph(kPlannedNetworks[0], kPlannedBatch);
  const Trained expected = train(graph, in_double(cuda_target(Precision::fp32)));
  const Trained found = train(graph, cuda_target(Precision::fp32));
  // Float's unit roundoff is 2^-16 of bf16's; the bound leaves room for ReLUs that switch.
  CHECK(largest_difference(found.losses, expected.losses) <= 1e-4);
  CHECK(found.losses != expected.losses);
}

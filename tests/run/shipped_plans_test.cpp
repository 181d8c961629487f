// The plan that a GPU would run, for every shipped network and run, checked as data.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "graph/include.h"
#include "model/model_programs.h"
#include "plan/blocks.h"
#include "plan_rules.h"
#include "run/config/batch_numbers.h"
#include "run/config/run_config.h"
#include "run/session/session_model.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

namespace fs = std::filesystem;

constexpr Precision kPrecisions[] = {Precision::fp32, Precision::tf32, Precision::bf16,
                                     Precision::fp16};

std::vector<fs::path> files_of(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(TY_SOURCE_DIR) / folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct NamedGraph {
  std::string name;
  TrainingGraph graph;
};

/// The keys of a loss for each named output.
std::vector<std::string> heads_of(const config::Node& network) {
  std::vector<std::string> heads;
  const config::Node* const outputs = network.find("outputs");
  if (outputs == nullptr) return heads;
  for (const config::Node& name : outputs->items) heads.push_back("{output: " + name.text + "}");
  return heads;
}

std::vector<NamedGraph> shipped_graphs() {
  std::vector<NamedGraph> graphs;
  for (const fs::path& file : files_of("configs")) {
    const RunConfig run = read_run_config(file, {});
    const std::int64_t batch = replica_batch(run, 1);
    graphs.push_back({file.filename(), make_training_graph(run, batch)});
  }
  for (const fs::path& file : files_of("models")) {
    if (file.filename() == "blocks.yaml") continue;  // not a network
    const config::Node network = load_network(file);
    graphs.push_back({file.filename(), training_graph(network, 64, heads_of(network), false)});
  }
  return graphs;
}

void check_plan(const Plan& plan) {
  const std::vector<std::string> faults = faults_of(plan);
  for (std::size_t i = 0; i < std::min<std::size_t>(faults.size(), 5); ++i) {
    FAIL_CHECK(faults[i]);
  }
}

/// A step has at most the cap, and those of the side queue share one: two caps at any time.
void check_workspaces(const Plan& plan) {
  std::set<TensorId> beside;
  for (const PlanStep& step : plan.steps) {
    if (step.workspace == kNoTensor) continue;
    CHECK(plan.tensors[step.workspace].bytes <= plan.target.workspace_cap);
    if (step.form.on_side_queue()) beside.insert(step.workspace);
  }
  CHECK(beside.size() <= 1);
}

/// Bytes of the network's activations at their own sizes, from the graph alone.
std::size_t activation_bytes(const Graph& graph, DType storage) {
  std::size_t elements = 0;
  for (const Value& value : graph.values) {
    elements += static_cast<std::size_t>(value.shape.elements());
  }
  return elements * size_of(storage);
}

}  // namespace

TEST_CASE("the CUDA plan of every shipped run and network obeys the rules, at every precision") {
  const std::vector<NamedGraph> graphs = shipped_graphs();
  REQUIRE(graphs.size() >= 9);
  for (const NamedGraph& shipped : graphs) {
    for (const Precision precision : kPrecisions) {
      CAPTURE(shipped.name);
      CAPTURE(name_of(precision));
      const Target target = cuda_target(precision);
      const ModelPlans plans = make_plans_without_device(shipped.graph, target);
      check_plan(*plans.train);
      check_plan(plans.eval);
      const MemoryForecast memory = forecast(plans, shipped.graph, {.target = target, .slots = 1});
      CHECK(memory.weights >= static_cast<std::size_t>(plans.blocks.parameter_elements) * 4);
      CHECK(memory.activations > activation_bytes(shipped.graph.graph, target.storage) / 4);
      check_workspaces(*plans.train);
      // Gaps between tensors: at most 1.3 % of them, measured (airbench94_muon_cifar10).
      CHECK(memory.workspace <= 2 * target.workspace_cap + memory.activations / 50);
      CHECK(memory.activations + memory.workspace == plans.train->transient_bytes);
    }
  }
}

TEST_CASE(
    "the gradients of every shipped run and network are all-reduced in a few buckets, in order") {
  std::size_t most = 0;
  for (const NamedGraph& shipped : shipped_graphs()) {
    CAPTURE(shipped.name);
    const ModelPlans plans = make_plans_without_device(shipped.graph, cuda_target(Precision::fp32));
    const auto bytes = static_cast<std::size_t>(plans.blocks.parameter_elements) * sizeof(float);
    const BucketBytes sizes = bucket_bytes(bytes);
    const auto buckets = cut_gradient_buckets(*plans.train, plans.blocks, sizeof(float), sizes);
    CHECK((buckets.size() == 1) == (bytes < sizes.single));
    CHECK(buckets.size() <= 2 + bytes / sizes.full);
    most = std::max(most, buckets.size());
    std::int64_t next = 0;
    std::size_t steps = 0;
    for (const GradientBucket& bucket : buckets) {
      CHECK(bucket.first == next);
      CHECK(bucket.steps >= steps);
      next += bucket.count;
      steps = bucket.steps;
    }
    CHECK(next == plans.blocks.gradient_elements());
    CHECK(steps == plans.train->steps.size());
    // All but the last overlap remaining steps.
    if (buckets.size() > 1) CHECK(buckets[buckets.size() - 2].steps < steps);
  }
  CHECK(most > 1);
}

TEST_CASE("16-bit storage halves the activations of a CUDA plan and leaves the weights alone") {
  const TrainingGraph graph =
      training_graph(load_network(fs::path(TY_SOURCE_DIR) / "models/resnet_cifar.yaml"), 64);
  const auto memory_at = [&](Precision precision) {
    const Target target = cuda_target(precision);
    ModelPlans plans = make_plans_without_device(graph, target);
    plans.blocks.packed = {};  // it has the storage type
    return forecast(plans, graph, {.target = target, .slots = 1});
  };
  const MemoryForecast wide = memory_at(Precision::fp32), half = memory_at(Precision::bf16);
  CHECK(half.weights == wide.weights);
  CHECK(half.gradients == wide.gradients);
  CHECK(half.optimizer == wide.optimizer);
  // Here maps have multiples of 8 channels; only the input's 3 are padded, to 4 or 8.
  CHECK(half.activations > wide.activations * 45 / 100);
  CHECK(half.activations < wide.activations * 55 / 100);
}

TEST_CASE("the checks of a plan find its errors") {
  const TrainingGraph graph = training_graph(
      "{input: [3, 8, 8], layers: [conv: [5, 3], bn, relu, conv: [5, 3], bn, relu, conv: [5, 3], "
      "bn, relu, dense: 4, softmax]}",
      2);
  const Plan sound = *make_plans_without_device(graph, cuda_target(Precision::fp16)).train;
  CHECK(faults_of(sound).empty());
  const auto faulty = [&](const auto& spoil) {
    Plan plan = sound;
    spoil(plan);
    return !faults_of(plan).empty();
  };
  const PlanStep& first = sound.steps[0];
  CHECK(faulty([&](Plan& plan) { plan.tensors[first.outputs[0]].type = DType::f32; }));
  CHECK(faulty([&](Plan& plan) { plan.tensors[first.outputs[0]].offset += 8; }));
  CHECK(faulty([&](Plan& plan) { plan.tensors[first.outputs[0]].bytes -= 2; }));
  CHECK(faulty([&](Plan& plan) { plan.target.workspace_cap = 1; }));
  CHECK(faulty([&](Plan& plan) { plan.target.channel_multiple = 16; }));
  CHECK(faulty([&](Plan& plan) { plan.transient_bytes += 256; }));
  CHECK(faulty([&](Plan& plan) { plan.steps.erase(plan.steps.begin()); }));
  CHECK(faulty([&](Plan& plan) {
    for (PlanTensor& tensor : plan.tensors) tensor.offset = 0;
  }));
  CHECK(faulty([&](Plan& plan) {
    for (PlanStep& step : plan.steps) step.awaits = -1;
  }));
}

// Ten training steps of whole networks against PyTorch float64 (scripts/make_training_goldens.py).
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/philox.h"
#include "compute/devices/cpu_executors.h"
#include "config/expression.h"
#include "config/load.h"
#include "device/device.h"
#include "graph/build.h"
#include "graph/include.h"
#include "model/model.h"
#include "ops/bn.h"
#include "ops/loss.h"
#include "ranks/comm/communicator.h"
#include "run/config/parameter_overrides.h"
#include "run/session/session_model.h"
#include "train/train_step.h"
#include "training_goldens.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::int64_t kSteps = 10;

/// Bound and centre of a parameter's noise, as in the script.
struct Range {
  double bound = 0.1;
  double centre = 0;
};

Range range_of(const ParameterSpec& spec) {
  if (spec.group == ParameterGroup::gamma) return {.bound = 0.25, .centre = 1};
  if (spec.group != ParameterGroup::kernel) return {};
  // The script's bound: kernels count as kernel^2 * (channels + filters), dense as in + out.
  const double window = static_cast<double>(spec.shape[2] * spec.shape[3]);
  return {.bound = std::sqrt(6.0 / (window * static_cast<double>(spec.shape[0] + spec.shape[1])))};
}

void set_noise(const BlockEntry& entry, const Range& range, DType type, std::byte* block) {
  const std::uint32_t key = key_of(entry.name);
  for (std::int64_t i = 0; i < entry.shape.elements(); ++i) {
    const auto value =
        static_cast<float>(noise(key, static_cast<std::uint64_t>(i)) * range.bound + range.centre);
    if (type == DType::f64) {
      reinterpret_cast<double*>(block)[entry.offset + i] = value;
    } else {
      reinterpret_cast<float*>(block)[entry.offset + i] = value;
    }
  }
}

void set_weights(Model& model) {
  const DType type = model.memory().type();
  for (const BlockEntry& entry : model.blocks().parameters) {
    const Node& node = model.planned_graph().nodes[entry.node];
    set_noise(entry, range_of(node.signature.parameters[entry.index]), type,
              model.memory().weights());
  }
  for (const BlockEntry& entry : model.blocks().statistics) {
    const bool variance = entry.name.ends_with("running_var");
    set_noise(entry, variance ? Range{.bound = 0.25, .centre = 1} : Range{}, type,
              model.memory().running());
  }
}

/// Removes dropout: the goldens have none.
Graph without_dropout(const Graph& graph) {
  Graph out = graph;
  out.nodes.clear();
  std::vector<ValueId> renamed(graph.values.size());
  for (std::size_t id = 0; id < renamed.size(); ++id) renamed[id] = static_cast<ValueId>(id);
  for (Node node : graph.nodes) {
    for (ValueId& input : node.inputs) input = renamed[input];
    if (node.op->type() == "dropout") {
      renamed[node.outputs[0]] = node.inputs[0];
      continue;
    }
    for (const ValueId output : node.outputs) {
      out.values[output].producer = static_cast<NodeId>(out.nodes.size());
    }
    out.nodes.push_back(std::move(node));
  }
  out.output = renamed[graph.output];
  return out;
}

TrainingGraph network_of(const Golden& golden, std::int64_t batch) {
  const config::Node network =
      config::merged(load_network(kRoot + "/models/" + golden.file),
                     config::parse_yaml(golden.overrides, "overrides"), {});
  Graph graph = without_dropout(build_graph(network, {.batch = batch}));
  for (Node& node : graph.nodes) {
    if (!golden.fixed_statistics || node.signature.statistics.empty()) continue;
    node.op = dynamic_cast<const BnOp&>(*node.op).with_fixed_statistics();
    REQUIRE(infer_signature(graph, node).empty());
  }
  const LossAttributes last{.label_smoothing = golden.smoothing};
  Objectives objectives{.losses = {std::make_shared<LossOp>("cross_entropy", last)},
                        .weighted = !golden.class_weights.empty(),
                        .mixed = golden.mixed};
  for (const LossAttributes& head : golden.heads) {
    objectives.losses.push_back(std::make_shared<LossOp>("cross_entropy", head));
  }
  if (golden.tokens > 0) objectives.fields[0].shape = {golden.tokens};
  return attach_objectives(std::move(graph), objectives);
}

/// The optimizers of a golden as a run has them: `rate` in its texts is its learning rate.
struct Optimizers {
  RunConfig run;
  ParameterOverrides overrides;

  Optimizers(const Golden& golden, const Graph& network) {
    config::Diagnostics diagnostics;
    const config::Node node = config::resolved(
        config::parse_yaml("{optimizer: " + golden.optimizer + "}", "optimizer"),
        {{"rate", config::scalar_node(std::to_string(golden.rate), false, {})}}, diagnostics);
    config::Fields fields(node, nullptr, "run", config::Profile::keras2, diagnostics);
    fields.one_of("optimizer", run.optimizer, "of the golden", optimizer_kinds());
    if (!golden.lookahead.empty()) {
      const config::Node keys = config::parse_yaml(golden.lookahead, "lookahead");
      config::Fields of(keys, nullptr, "lookahead", config::Profile::keras2, diagnostics);
      declare(of, run.lookahead.emplace());
    }
    run.parameters = config::parse_yaml(golden.parameters, "parameters");
    overrides = parameter_overrides(run, network, 1, diagnostics);
    diagnostics.raise();
  }
};

std::vector<double> train(const Golden& golden, std::size_t set, std::int64_t batch,
                          const Target& target, const ExecutorFactory& executors) {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  const auto launches = make_cpu_update_launches(2);
  const auto communicator = make_single_communicator();
  const TrainingGraph network = network_of(golden, batch);
  const Optimizers optimizers(golden, network.graph);
  const Optimizer& usual = *optimizers.run.optimizer;
  Model model(network, {*device, *queue, executors, *launches},
              {.target = target,
               .threads = 2,
               .slots = state_blocks(optimizers.run),
               .average = average_options(optimizers.run)});
  set_weights(model);
  model.publish_weights(WeightChange::load);
  TrainStep train_step(model, *communicator, usual, nullptr,
                       {.base = usual.rate, .steps = kSteps, .steps_per_epoch = kSteps},
                       {.parameters = optimizers.overrides, .lookahead = optimizers.run.lookahead});
  Samples samples(golden, set, batch);
  std::vector<double> losses;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    model.load(samples.step(step));
    train_step.run();
    const StepResult result = train_step.results().take_all()[0];
    REQUIRE(result.finite);
    const Totals& totals = result.totals;
    losses.push_back(totals.loss / total_weight(model.graph(), totals.metrics, totals.samples));
  }
  return losses;
}

void check_reference(const Golden& golden) {
  const auto executors = make_reference_executors();
  const auto losses =
      train(golden, 0, golden.in_double.batch, reference_target(Precision::fp64), *executors);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    CAPTURE(step);
    CHECK(std::abs(losses[step] - golden.in_double.of_sets[0][step]) <= 1e-9);
  }
}

/// Float32 may differ by ten times the spread of one ulp in every weight (measured, see the
/// script).
void check_float(const Golden& golden, CpuExecutorSettings::Winograd winograd) {
  CAPTURE(static_cast<int>(winograd));
  const auto executors = make_cpu_executors({.winograd = winograd});
  const Losses& expected = golden.in_float;
  for (std::size_t set = 0; set < expected.of_sets.size(); ++set) {
    CAPTURE(set);
    const auto losses =
        train(golden, set, expected.batch, cpu_target(processor_has_avx512()), *executors);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      CAPTURE(step);
      CHECK(std::abs(losses[step] - expected.of_sets[set][step]) <=
            10 * expected.spread[set][step]);
    }
  }
}

/// Directly, and by Winograd's forms wherever a run may choose one.
void check_cpu(const Golden& golden) {
  check_float(golden, CpuExecutorSettings::Winograd::off);
  check_float(golden, CpuExecutorSettings::Winograd::fewest);
}

}  // namespace

TEST_CASE("ResNet-20 on the reference device follows PyTorch in float64") {
  check_reference(resnet20());
}
TEST_CASE("MiniGoogLeNet on the reference device follows PyTorch in float64") {
  check_reference(minigooglenet());
}
TEST_CASE("the Keras CNN on the reference device follows PyTorch in float64") {
  check_reference(keras_cnn());
}
TEST_CASE("Keras's ResNet v2 on the reference device follows PyTorch in float64") {
  check_reference(resnet_v2());
}
TEST_CASE("grouped bottlenecks on the reference device follow PyTorch in float64") {
  check_reference(grouped());
}
TEST_CASE("fixed statistics on the reference device follow PyTorch's eval() in float64") {
  check_reference(fixed_statistics());
}
TEST_CASE("fixed statistics through oneDNN stay within float32 rounding of PyTorch") {
  check_cpu(fixed_statistics());
}
TEST_CASE("two losses with class weights on the reference device follow PyTorch in float64") {
  check_reference(two_heads());
}
TEST_CASE("mixed samples on the reference device follow PyTorch in float64") {
  check_reference(mixed());
}
TEST_CASE("mixed samples through oneDNN stay within float32 rounding of PyTorch") {
  check_cpu(mixed());
}
TEST_CASE("Muon in torch's form and in airbench's follow PyTorch in float64") {
  check_reference(muon());
  check_reference(airbench());
}
TEST_CASE("Muon through our products stays within float32 rounding of PyTorch") {
  check_cpu(muon());
  check_cpu(airbench());
}
TEST_CASE("Lookahead with one pull and with airbench's follows a loop of PyTorch in float64") {
  check_reference(lookahead());
  check_reference(scheduled_lookahead());
}
TEST_CASE("an embedding and dense layers of each position follow PyTorch in float64") {
  check_reference(sequence());
}
TEST_CASE("two losses with class weights through oneDNN stay within float32 rounding of PyTorch") {
  check_cpu(two_heads());
}
TEST_CASE("ResNet-20 through oneDNN stays within float32 rounding of PyTorch") {
  check_cpu(resnet20());
}
TEST_CASE("MiniGoogLeNet through oneDNN stays within float32 rounding of PyTorch") {
  check_cpu(minigooglenet());
}
TEST_CASE("the Keras CNN through oneDNN stays within float32 rounding of PyTorch") {
  check_cpu(keras_cnn());
}
TEST_CASE("Keras's ResNet v2 through oneDNN stays within float32 rounding of PyTorch") {
  check_cpu(resnet_v2());
}
TEST_CASE("grouped bottlenecks through oneDNN stay within float32 rounding of PyTorch") {
  check_cpu(grouped());
}
TEST_CASE("airbench94 with its groups and Lookahead follows PyTorch in float64") {
  check_reference(airbench94());
}
TEST_CASE("a wide ResNet with dropped branches follows PyTorch in float64") {
  check_reference(wide_resnet());
}
TEST_CASE("DenseNet-BC with Muon follows PyTorch in float64") { check_reference(densenet()); }
TEST_CASE("ConvMixer with mixed samples and AdamW follows PyTorch in float64") {
  check_reference(convmixer());
}
TEST_CASE("MobileNetV2 follows PyTorch in float64") { check_reference(mobilenet_v2()); }
TEST_CASE("a wide ResNet with dropped branches through oneDNN stays within float32 rounding") {
  check_cpu(wide_resnet());
}
TEST_CASE("ConvMixer with mixed samples through oneDNN stays within float32 rounding") {
  check_cpu(convmixer());
}
TEST_CASE("MobileNetV2 through oneDNN stays within float32 rounding") { check_cpu(mobilenet_v2()); }
TEST_CASE("recurrent layers on the reference device follow PyTorch in float64") {
  check_reference(recurrent());
}
TEST_CASE("recurrent layers with Keras's gates on the reference device follow their formula") {
  check_reference(keras_recurrent());
}
TEST_CASE("recurrent layers through oneDNN stay within float32 rounding of PyTorch") {
  check_cpu(recurrent());
}
TEST_CASE("Keras's gates through oneDNN stay within float32 rounding of their formula") {
  check_cpu(keras_recurrent());
}
TEST_CASE("layers that leave out padding follow PyTorch's packed sequences in float64") {
  check_reference(lengths());
  check_reference(bidirectional());
}
TEST_CASE("layers that leave out padding through oneDNN stay within float32 rounding of PyTorch") {
  check_cpu(lengths());
  check_cpu(bidirectional());
}

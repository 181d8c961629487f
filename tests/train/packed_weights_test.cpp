// Packed weights and gradients in the plan of a device that packs weights.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/offset_allocator.h"
#include "every_op.h"
#include "model/model_programs.h"
#include "plan/blocks.h"
#include "plan/passes.h"
#include "plan_rules.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Kind = PlanStep::Kind;

constexpr const char* kConvolutions = R"(
input: [3, 8, 8]
layers:
  - conv: {filters: 10, kernel: 3, bias: false}
  - bn
  - relu
  - conv: {filters: 16, kernel: 1}
  - conv: {filters: 8, kernel: 1}
  - conv: {filters: 8, kernel: 3, groups: 2}
  - dense: 4
  - softmax
)";

ModelPlans plans_of(const std::string& network, Precision precision, std::int64_t batch = 4) {
  return make_plans_without_device(training_graph(network, batch), cuda_target(precision));
}

/// The steps of a kind, as indices.
std::vector<std::size_t> steps_of(const Plan& plan, Kind kind) {
  std::vector<std::size_t> found;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    if (plan.steps[index].kind == kind) found.push_back(index);
  }
  return found;
}

/// "conv1.weight" of each packed entry.
std::vector<std::string> names_of(const ModelPlans& plans) {
  std::vector<std::string> names;
  for (const PackedEntry& entry : plans.blocks.packed.entries) {
    names.push_back(plans.blocks.parameters[entry.parameter].name);
  }
  std::ranges::sort(names);
  return names;
}

/// Every packed gradient is unpacked by one later step, to the place of its parameter.
void check_unpacked(const Plan& plan) {
  std::map<TensorId, int> written;
  for (const PlanStep& step : plan.steps) {
    for (const TensorId id : step.parameter_gradients) {
      if (id != kNoTensor && plan.tensors[id].packed) ++written[id];
    }
    if (step.kind != Kind::unpack) continue;
    REQUIRE(step.inputs.size() == step.outputs.size());
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      REQUIRE(written[step.inputs[i]]-- == 1);
      const WeightShape& shape = *plan.tensors[step.inputs[i]].packed;
      CHECK(span_elements(plan.tensors[step.outputs[i]].layout) == shape.plain_elements());
    }
  }
  for (const auto& [id, left] : written) CHECK(left == 0);
  CHECK(faults_of(plan).empty());
}

}  // namespace

TEST_CASE("in 16 bits all weights are packed once, and the biases that engines add") {
  const ModelPlans plans = plans_of(kConvolutions, Precision::bf16);
  CHECK(names_of(plans) == std::vector<std::string>{"conv1.weight", "conv2.bias", "conv2.weight",
                                                    "conv3.bias", "conv3.weight", "conv4.bias",
                                                    "conv4.weight", "dense1.weight"});
  std::size_t bytes = 0;
  for (const PackedEntry& entry : plans.blocks.packed.entries) {
    CHECK(entry.offset == bytes);
    bytes += aligned_bytes(static_cast<std::size_t>(entry.shape.packed_elements()) * 2);
  }
  CHECK(plans.blocks.packed.bytes == bytes);
}

TEST_CASE("in f32 only weights are packed whose order or padding differs") {
  // The third convolution has a 1 x 1 window and 16 channels of 16; the second reads 10 of 12.
  CHECK(names_of(plans_of(kConvolutions, Precision::fp32)) ==
        std::vector<std::string>{"conv1.weight", "conv2.weight", "conv4.weight"});
}

TEST_CASE("a small network's gradients are unpacked in one step, the last") {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const Plan plan = *plans_of(kConvolutions, precision).train;
    check_unpacked(plan);
    CHECK(steps_of(plan, Kind::unpack) == std::vector{plan.steps.size() - 1});
    CHECK(plan.steps.back().inputs.size() == (precision == Precision::fp32 ? 3 : 4));
  }
}

TEST_CASE("a large network's gradients are unpacked at the end of each bucket") {
  const ModelPlans plans = plans_of(R"(
input: [512, 4, 4]
layers:
  - repeat: {times: 6, layers: [conv: {filters: 512, kernel: 3, pad: same_upper, bias: false}, relu]}
  - conv: {filters: 8, kernel: 3}
  - dense: 4
  - softmax
)",
                                    Precision::bf16, 2);
  const Plan& plan = *plans.train;
  check_unpacked(plan);
  const auto buckets = cut_gradient_buckets(plan, plans.blocks, sizeof(float));
  CHECK(buckets.size() > 2);
  std::vector<std::size_t> ends;
  for (const GradientBucket& bucket : buckets) ends.push_back(bucket.steps - 1);
  CHECK(steps_of(plan, Kind::unpack) == ends);
}

TEST_CASE("gradients of shared weights are unpacked before they are added") {
  const Plan plan = *plans_of(R"(
input: [4, 5, 4]
layers:
  - {conv: {filters: 4, kernel: 3, pad: 1}, as: first}
  - tanh
  - repeat: {times: 2, layers: [{conv: {filters: 4, kernel: 3, pad: 1}, share: first}, tanh]}
  - dense: 3
  - softmax
)",
                              Precision::bf16)
                         .train;
  check_unpacked(plan);
  // The last two convolutions' weights, then the first's.
  CHECK(steps_of(plan, Kind::unpack).size() == 2);
}

TEST_CASE("the plans of networks with every op unpack every packed gradient") {
  for (const char* const network : {kEveryOp, kEverySequenceOp}) {
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      const ModelPlans plans = plans_of(network, precision);
      check_unpacked(*plans.train);
      CHECK(faults_of(plans.eval).empty());
    }
  }
}

TEST_CASE("the forecast knows the packed weights, and those of a judged average") {
  const TrainingGraph graph = training_graph(kConvolutions, 4);
  const Target target = cuda_target(Precision::bf16);
  const ModelPlans plans = make_plans_without_device(graph, target);
  const auto weights_with = [&](const BlockLayout& blocks, std::optional<AverageOptions> average) {
    ModelPlans changed = plans;
    changed.blocks = blocks;
    return forecast(changed, graph, {.target = target, .average = average}).weights;
  };
  BlockLayout unpacked = plans.blocks;
  unpacked.packed = {};
  const std::size_t packed = plans.blocks.packed.bytes;
  const AverageOptions judged, other{.rule = {}, .judged = false};
  CHECK(weights_with(plans.blocks, {}) == weights_with(unpacked, {}) + packed);
  CHECK(weights_with(plans.blocks, judged) == weights_with(unpacked, judged) + 2 * packed);
  CHECK(weights_with(plans.blocks, other) == weights_with(unpacked, other) + packed);
}

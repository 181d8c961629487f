#include "plan/work.h"

#include <doctest/doctest.h>

#include "fake_network.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr std::size_t kValue = 512;      // [2, 64] in f32
constexpr std::size_t kParameter = 400;  // 100 elements in f32
constexpr std::size_t kLoss = 8;         // [2] in f32

FakeTraits counted_conv(std::int64_t multiply_adds) {
  FakeTraits traits = conv_like();
  traits.multiply_adds = multiply_adds;
  return traits;
}

/// A batch norm in form only: statistics, and both gradients in one step.
FakeTraits bn_like() {
  return {.type = "bn",
          .contract = {.backward_reads_inputs = true, .synced_backward = true},
          .parameter_elements = 100,
          .statistic_elements = 50};
}

/// Forward and backward of a loss after a value of `value` bytes.
std::size_t loss_bytes(std::size_t value) { return value + kLoss + value + value; }

}  // namespace

TEST_CASE("two layers: operations and bytes are those counted by hand") {
  FakeNetwork network({2, 64});
  network(counted_conv(1000), {network(counted_conv(300), {0})});
  const Plan plan = training_plan(network);
  // The first layer has no gradient of its input.
  CHECK(flop_of(plan) == 2 * (2 * 300 + 3 * 1000));
  const std::size_t forward = kValue + kParameter + kValue;
  const std::size_t parameters = kValue + kValue + kParameter;      // x, dy; dw
  const std::size_t input = kValue + kValue + kParameter + kValue;  // x, dy, w; dx
  CHECK(bytes_moved(plan) == 2 * forward + 2 * parameters + input + loss_bytes(kValue));
}

TEST_CASE("a step that computes both gradients has the operations of both") {
  FakeNetwork network({2, 64});
  FakeTraits both = bn_like();
  both.multiply_adds = 1000;
  network(both, {0});
  CHECK(flop_of(training_plan(network)) == 2 * 3 * 1000);
}

TEST_CASE("values count as they are stored, parameters in the arithmetic type") {
  FakeNetwork network({2, 60, 1, 1});
  network(conv_like(), {0});
  Target target = cuda_target(Precision::bf16);
  const std::size_t input = 2 * 64 * 2;  // 60 channels padded to 64, 2 bytes each
  const Plan plan = training_plan(network, target);
  std::size_t expected = 0;
  for (const PlanStep& step : plan.steps) {
    if (step.kind == PlanStep::Kind::reorder) expected += input + 2 * 60 * 2;
  }
  CHECK(expected > 0);                     // the loss reads plain values
  expected += input + kParameter + input;  // forward
  expected += input + input + kParameter;  // gradient of the parameters
  const std::size_t plain = 2 * 60 * 2;
  expected += plain + 2 * 2 + plain + plain;  // the loss, whose fake stores bf16 itself
  CHECK(bytes_moved(plan) == expected);
}

TEST_CASE("work in place moves as many bytes as work out of place") {
  FakeNetwork network({2, 64});
  network(relu_like(), {network(conv_like(), {0})});
  Plan plan = training_plan(network);
  const std::size_t before = bytes_moved(plan);
  complete(plan, std::vector<StepNeeds>(plan.steps.size()));
  bool in_place = false;
  for (const PlanTensor& tensor : plan.tensors) in_place = in_place || tensor.alias_of != kNoTensor;
  CHECK(in_place);
  CHECK(bytes_moved(plan) == before);
}

TEST_CASE("a sum reads both tensors and writes one") {
  FakeNetwork network({2, 64});
  const ValueId stem = network(conv_like(), {0});
  network(add_like(), {network(conv_like(), {stem}), stem});
  const Plan plan = training_plan(network);
  const std::size_t convs =
      2 * (2 * kValue + kParameter) + 2 * (2 * kValue + kParameter) + (3 * kValue + kParameter);
  const std::size_t add = 2 * kValue + kValue;
  const std::size_t sum = 3 * kValue;
  CHECK(bytes_moved(plan) == convs + add + sum + loss_bytes(kValue));
}

TEST_CASE("an input that is passed twice is read once") {
  FakeNetwork network({2, 64});
  const ValueId stem = network(conv_like(), {0});
  network(add_like(), {stem, stem});
  const Plan plan = training_plan(network);
  const std::size_t conv = 2 * (2 * kValue + kParameter);
  std::size_t sums = 0;  // sums of the gradient with itself, including the copy that it needs
  for (const PlanStep& step : plan.steps) {
    if (step.kind == PlanStep::Kind::accumulate) sums += 3 * kValue;
    if (step.kind == PlanStep::Kind::reorder) sums += 2 * kValue;
  }
  CHECK(sums == 5 * kValue);
  CHECK(bytes_moved(plan) == conv + 2 * kValue + sums + loss_bytes(kValue));
}

TEST_CASE(
    "the reserve is written once and read by the input's gradient, workspace is not counted") {
  FakeNetwork network({2, 64});
  network(conv_like(), {network(conv_like(), {0})});
  Plan plan = training_plan(network);
  const std::size_t before = bytes_moved(plan);
  std::vector<StepNeeds> needs(plan.steps.size(), {.workspace = 4096});
  REQUIRE(name_of(plan, plan.steps[1]) == "conv2 forward_train");
  needs[1].reserve = 1000;
  complete(plan, needs);
  // Instead of the parameters.
  CHECK(bytes_moved(plan) == before + 1000 + 1000 - kParameter);
}

TEST_CASE("a joint backward step writes both gradients; statistics are counted with their node") {
  FakeNetwork network({2, 64});
  network(bn_like(), {network(conv_like(), {0})});
  const Plan plan = training_plan(network);
  const std::size_t statistics = 200;  // 50 elements
  const std::size_t conv = 2 * (2 * kValue + kParameter);
  const std::size_t forward = 2 * kValue + kParameter + statistics;
  const std::size_t backward = 3 * kValue + 2 * kParameter + statistics;  // x, dy, w; dx, dw
  CHECK(bytes_moved(plan) == conv + forward + backward + loss_bytes(kValue));
}

TEST_CASE("an optimizer step reads gradients, and reads and writes weights, state and statistics") {
  const BlockLayout blocks{.parameter_elements = 640, .statistic_elements = 64};
  CHECK(update_bytes(blocks, DType::f32, 0) == 4 * (3 * 640 + 3 * 64));
  CHECK(update_bytes(blocks, DType::f32, 2) == 4 * (7 * 640 + 3 * 64));
  CHECK(update_bytes(blocks, DType::f64, 1) == 8 * (5 * 640 + 3 * 64));
}

// Training without the biases that batch norms cancel, against the plan that adds them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/parallel.h"
#include "plan_rules.h"
#include "rank_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Each layer that has a bias before a batch norm, biases that are not 0, a residual, and features.
constexpr const char* kBeforeNorms = R"(
input: [3, 9, 7]
defaults: {conv: {init: torch_default}, conv_transpose: {init: torch_default}, dense: {init: torch_default}, bn: {running_var: unbiased}}
layers:
  - conv: {filters: 6, kernel: 3}
  - bn
  - relu
  - conv_transpose: {filters: 5, kernel: 3, stride: 2}
  - bn
  - relu
  - add: [[conv: {filters: 5, kernel: 3, pad: 1}, bn], []]
  - relu
  - conv: {filters: 70, kernel: 1}
  - bn: {scale: false}
  - tanh
  - global_avg_pool
  - dense: 8
  - bn
  - relu
  - dense: 4
  - softmax
)";

/// Used three times: before a batch norm, before none, and before another.
constexpr const char* kSharedBefore = R"(
input: [3, 9, 7]
defaults: {conv: {init: torch_default, pad: 1}}
layers:
  - conv: {filters: 4, kernel: 3}
  - relu
  - {conv: {filters: 4, kernel: 3}, as: first}
  - bn
  - relu
  - {conv: {filters: 4, kernel: 3}, share: first}
  - tanh
  - {conv: {filters: 4, kernel: 3}, share: first}
  - bn
  - relu
  - dense: 4
  - softmax
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::vector<double> values_of(const std::vector<std::byte>& bytes, DType type) {
  std::vector<double> values(bytes.size() / size_of(type));
  std::vector<float> narrow(values.size());
  if (type == DType::f64) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  } else {
    std::memcpy(narrow.data(), bytes.data(), bytes.size());
    std::ranges::copy(narrow, values.begin());
  }
  return values;
}

/// Largest difference, as a part of the largest value.
double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (const double value : a) most = std::max(most, std::abs(value));
  return largest_difference(a, b) / most;
}

/// Compares losses, weights, momenta, running statistics and the evaluation.
void check_close(const TrainedRank& a, const TrainedRank& b, DType type, double bound) {
  CHECK(relative_difference(a.numbers(), b.numbers()) <= bound);
  for (const auto part : {&TrainedRank::weights, &TrainedRank::slots, &TrainedRank::running}) {
    CHECK(relative_difference(values_of(a.*part, type), values_of(b.*part, type)) <= bound);
  }
  CHECK(std::abs(a.evaluation.loss - b.evaluation.loss) <= bound * a.evaluation.loss);
}

/// Ten steps with and without the biases, in double and with this number of them left out.
void check_in_double(RankTraining training, int ranks, std::size_t cancelled) {
  training.updates = 10;
  training.target = in_double(training.target);
  const TrainingGraph graph = training_graph(training.network, training.batch);
  const ModelPlans plans = make_plans_without_device(graph, cuda_target(Precision::fp32));
  CHECK(plans.train->cancelled_biases.size() == cancelled);
  CHECK(faults_of(*plans.train) == std::vector<std::string>{});
  const auto without = train_on_ranks(ranks, training);
  training.target.can.set(Can::cancel_biases, false);
  const auto with = train_on_ranks(ranks, training);
  for (std::size_t rank = 0; rank < with.size(); ++rank) {
    CAPTURE(rank);
    check_close(with[rank], without[rank], DType::f64, 1e-12);
  }
}

RankTraining on_reference(const std::string& network) {
  return {.network = network, .target = reference_target(Precision::fp64)};
}

}  // namespace

TEST_CASE("ten steps without cancelled biases equal those with them, on every plan") {
  for (const Target& target :
       {reference_target(Precision::fp64), cpu_target(true), cuda_target(Precision::fp16)}) {
    CAPTURE(target.name);
    RankTraining training = on_reference(kBeforeNorms);
    training.target = target;
    check_in_double(training, 1, 5);
  }
}

TEST_CASE("so do those of a layer that is used with and without a batch norm") {
  check_in_double(on_reference(kSharedBefore), 1, 2);
}

TEST_CASE("so do those of a frozen layer") {
  RankTraining training = on_reference(kBeforeNorms);
  training.frozen = "conv1";
  check_in_double(training, 1, 5);
}

TEST_CASE("so do those of an optimizer that decays biases") {
  RankTraining training = on_reference(kBeforeNorms);
  training.optimizer_keys =
      "{lr: 0.02, momentum: 0.9, weight_decay: 0.1, decay_on: [kernel, bias]}";
  check_in_double(training, 1, 5);
  // Its direction takes the place of the gradient. Epsilon is far above the plain plan's rounding.
  training.optimizer = "lamb";
  training.optimizer_keys =
      "{lr: 0.02, epsilon: 0.01, weight_decay: 0.1, decay_on: [kernel, bias], ratio_on: [bias]}";
  check_in_double(training, 1, 5);
}

TEST_CASE("so do those of micro-batches, shards and ranks") {
  RankTraining training = on_reference(kBeforeNorms);
  check_in_double(training, 2, 5);
  training.options.accumulate = 2;
  check_in_double(training, 2, 5);
  training.options.shards = 4;
  check_in_double(training, 2, 5);
}

TEST_CASE("so do those of ranks with joint statistics") {
  check_in_double(on_reference(replaced(kBeforeNorms, "bn: {", "bn: {sync: true, ")), 2, 5);
}

TEST_CASE("on the processor in float32 they stay close") {
  RankTraining training{.network = kBeforeNorms,
                        .target = cpu_target(processor_has_avx512()),
                        .onednn = true,
                        .updates = 10};
  const TrainedRank without = train_on_ranks(1, training)[0];
  training.target.can.set(Can::cancel_biases, false);
  check_close(train_on_ranks(1, training)[0], without, DType::f32, 1e-4);
}

TEST_CASE("without decay a cancelled bias keeps its value") {
  RankTraining training = on_reference(kBeforeNorms);
  const auto bias_after = [&](std::int64_t updates, const std::string& name) {
    training.updates = updates;
    const std::vector<double> weights =
        values_of(train_on_ranks(1, training)[0].weights, DType::f64);
    const TrainingGraph graph = training_graph(training.network, training.batch);
    const BlockLayout blocks = make_plans(graph, training.target, true).blocks;
    const auto entry = std::ranges::find(blocks.parameters, name, &BlockEntry::name);
    REQUIRE(entry != blocks.parameters.end());
    return std::vector<double>(weights.begin() + entry->offset,
                               weights.begin() + entry->offset + entry->shape.elements());
  };
  CHECK(bias_after(10, "conv1.bias") == bias_after(0, "conv1.bias"));
  CHECK(bias_after(10, "dense1.bias") == bias_after(0, "dense1.bias"));
  CHECK(bias_after(10, "dense2.bias") != bias_after(0, "dense2.bias"));
}

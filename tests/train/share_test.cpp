// Layers that share parameters (`share:`): one entry in the blocks, gradients summed.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "device/device.h"
#include "plan_rules.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::int64_t kSharedBatch = 3;

/// In a chain, three times: weights and bias.
const char* const kChain = R"(
input: [4, 5, 4]
layers:
  - {conv: {filters: 4, kernel: 3, pad: 1}, as: first}
  - tanh
  - repeat: {times: 2, layers: [{conv: {filters: 4, kernel: 3, pad: 1}, share: first}, tanh]}
  - dense: 3
  - softmax
)";
/// In branches: a block with a batch norm, whose gradients are from backward_data, and by path.
const char* const kBranches = R"(
input: [3, 6, 5]
blocks:
  cbs: {args: [k], layers: [conv: {filters: 4, kernel: $k, pad: 1}, bn, relu, dense: 5]}
layers:
  - concat:
      - [{cbs: 3, as: left}]
      - [tanh, {cbs: 3, share: concat1.0.cbs1}]
      - [{cbs: 1}]
  - dense: 3
  - softmax
)";

/// A network being trained on one batch of fixed images.
class Bench {
 public:
  Bench(const TrainingGraph& graph, const Target& target, const ExecutorFactory& executors)
      : model_(graph, {*device_, *queue_, executors, *launches_}, {.target = target, .seed = 1}) {
    model_.initialize(2);
    const Shape& shape = graph.graph.values[graph.graph.inputs[0]].shape;
    images_.resize(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < images_.size(); ++i)
      images_[i] = std::sin(static_cast<float>(i * i));
    std::iota(labels_.begin(), labels_.end(), 0);
    std::iota(index_.begin(), index_.end(), 0);
  }
  /// Forward and backward; the sum over the batch, as no step has set another scale.
  double loss() {
    model_.load({.images = images_,
                 .fields = {std::as_bytes(std::span(labels_))},
                 .sample_index = index_,
                 .valid = kSharedBatch});
    model_.take_batch(EvaluatedSplit::training);
    model_.train().forward();
    model_.train().backward();
    model_.add_results(model_.train());
    return model_.take_totals().loss;
  }
  [[nodiscard]] const Model& model() const { return model_; }
  /// On the host; in the blocks' type.
  template <class T>
  [[nodiscard]] T* weights(const BlockEntry& entry) {
    return reinterpret_cast<T*>(model_.memory().weights()) + entry.offset;
  }
  template <class T>
  [[nodiscard]] std::vector<double> gradients(const BlockEntry& entry) {
    const T* const first = reinterpret_cast<const T*>(model_.memory().gradients()) + entry.offset;
    return {first, first + entry.shape.elements()};
  }

 private:
  std::unique_ptr<Device> device_ = make_cpu_device();
  std::unique_ptr<Queue> queue_ = device_->make_queue();
  std::unique_ptr<UpdateLaunches> launches_ = make_cpu_update_launches(1);
  Model model_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_ = std::vector<std::int32_t>(kSharedBatch);
  std::vector<std::int64_t> index_ = std::vector<std::int64_t>(kSharedBatch);
};

/// The derivative of the loss by every weight, by central differences.
std::vector<double> slopes(Bench& bench, const BlockEntry& entry) {
  constexpr double kStep = 1e-5;
  std::vector<double> found;
  for (std::int64_t i = 0; i < entry.shape.elements(); ++i) {
    double& weight = bench.weights<double>(entry)[i];
    const double at = weight;
    weight = at + kStep;
    const double above = bench.loss();
    weight = at - kStep;
    const double below = bench.loss();
    weight = at;
    found.push_back((above - below) / (2 * kStep));
  }
  return found;
}

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

}  // namespace

TEST_CASE("the gradient of shared parameters is the derivative of the loss") {
  const auto executors = make_reference_executors();
  for (const char* network : {kChain, kBranches}) {
    Bench bench(training_graph(network, kSharedBatch), reference_target(Precision::fp64),
                *executors);
    for (const BlockEntry& entry : bench.model().blocks().parameters) {
      CAPTURE(entry.name);
      bench.loss();
      const std::vector<double> gradients = bench.gradients<double>(entry);
      // Third derivatives times the step squared, and rounding divided by the step: each below
      // 1e-9. A ReLU's kink within the step would show: the images are chosen so that there is
      // none.
      CHECK(largest_difference(slopes(bench, entry), gradients) < 1e-8);
      // The bias before a batch norm changes nothing.
      const bool before_norm = entry.name.ends_with("cbs1.conv1.bias");
      if (!before_norm && entry.name != "concat1.2.cbs1.conv1.bias")
        CHECK(largest(gradients) > 1e-4);
    }
  }
}

TEST_CASE("shared parameters have one entry, under the name of the layer that owns them") {
  const auto executors = make_reference_executors();
  const auto names = [&](const char* network) {
    const Bench bench(training_graph(network, kSharedBatch), reference_target(Precision::fp64),
                      *executors);
    std::vector<std::string> found;
    for (const BlockEntry& entry : bench.model().blocks().parameters) found.push_back(entry.name);
    for (const BlockEntry& entry : bench.model().blocks().statistics) found.push_back(entry.name);
    return found;
  };
  CHECK(names(kChain) ==
        std::vector<std::string>{"dense1.weight", "dense1.bias", "conv1.weight", "conv1.bias"});
  const std::vector<std::string> branches = names(kBranches);
  const auto count = [&](const char* name) {
    return std::count(branches.begin(), branches.end(), name);
  };
  CHECK(count("concat1.0.cbs1.bn1.gamma") == 1);
  CHECK(count("concat1.1.cbs1.bn1.gamma") == 0);
  CHECK(count("concat1.2.cbs1.bn1.gamma") == 1);
  // Statistics are not shared.
  CHECK(count("concat1.1.cbs1.bn1.running_mean") == 1);
}

TEST_CASE("layers share parameters with every plan: rules are obeyed, training is the same") {
  const auto reference = make_reference_executors();
  for (const char* network : {kChain, kBranches}) {
    const TrainingGraph graph = training_graph(network, kSharedBatch);
    const Trained expected = train_ten_steps(graph, reference_target(Precision::fp64), *reference);
    Target cuda = cuda_target(Precision::fp32);
    cuda.storage = DType::f64;
    CHECK(faults_of(*make_plans_without_device(graph, cuda).train).empty());
    const Trained found = train_ten_steps(graph, cuda, *reference);
    CHECK(largest_difference(found.losses, expected.losses) < 1e-9);
    CHECK(largest_difference(found.weights, expected.weights) < 1e-9);
  }
}

TEST_CASE("the CPU's executors sum the gradients of shared parameters") {
  const auto reference = make_reference_executors();
  const auto processor = make_cpu_executors();
  for (const char* network : {kChain, kBranches}) {
    const TrainingGraph graph = training_graph(network, kSharedBatch);
    Bench exact(graph, reference_target(Precision::fp64), *reference);
    Bench found(graph, cpu_target(false), *processor);
    // As below: the loss is a sum of logits that are such sums.
    CHECK(found.loss() == doctest::Approx(exact.loss()).epsilon(1e-5));
    for (const BlockEntry& entry : exact.model().blocks().parameters) {
      CAPTURE(entry.name);
      const std::vector<double> expected = exact.gradients<double>(entry);
      // Sums of a few hundred products in float32, some of which cancel: 2^-24 times a thousand.
      const double bound = 6e-5 * std::max(largest(expected), 0.1);
      CHECK(largest_difference(found.gradients<float>(entry), expected) < bound);
    }
  }
}

// Small networks through the plan that a GPU runs (n, h, w, c maps, padded channels, fused steps),
// on the reference device.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "base/median.h"
#include "base/philox.h"
#include "every_op.h"
#include "exec/cpu_executors.h"
#include "ops/all.h"
#include "small_training.h"
#include "tensor/float_types.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Channels are not multiples of 8 or 4, windows are padded, strided, dilated and grouped.
const std::vector<std::string> kNetworks = {
    R"(
input: [3, 13, 11]
layers:
  - conv: {filters: 10, kernel: 3, stride: [2, 1], pad: same_upper}
  - bn
  - relu
  - add: [[conv: {filters: 10, kernel: 3, pad: 1}, bn], []]
  - relu
  - concat: [[conv: [5, 1]], [conv: {filters: 7, kernel: 3, pad: 1}, bn, relu], []]
  - max_pool: {size: 3, stride: 2, pad: 1}
  - dropout: 0.25
  - conv: {filters: 6, kernel: 3, pad: 2, dilation: 2, groups: 2}
  - tanh
  - dense: 9
  - bn
  - relu
  - dense: 4
  - softmax
)",
    R"(
input: [5, 9, 9]
layers:
  - conv: {filters: 12, kernel: 3, groups: 1, bias: false}
  - bn
  - leaky_relu: 0.1
  - average: [[avg_pool: {size: 2, stride: 2, ceil: true}], [conv: {filters: 12, kernel: 1, stride: 2, pad: 0}]]
  - multiply: [[sigmoid], []]
  - concat: [[max_pool: {size: 2, stride: 1}], [avg_pool: {size: 2, stride: 1}], [conv: {filters: 3, kernel: 2}]]
  - global_avg_pool
  - dropout: 0.1
  - dense: 3
  - softmax
)",
    R"(
input: [3, 8, 8]
layers:
  - conv: {filters: 16, kernel: 3, pad: 1}
  - add: [[conv: {filters: 16, kernel: 3, pad: 1}, bn], []]
  - relu
  - add: [[conv: {filters: 16, kernel: 3, pad: 1}, bn], [conv: {filters: 16, kernel: 1}, bn]]
  - relu
  - concat: [[conv: {filters: 8, kernel: 1}, bn, relu], [conv: {filters: 16, kernel: 3, pad: 1}, tanh], [max_pool: {size: 3, stride: 1, pad: 1}]]
  - concat: [[bn, relu], [avg_pool: {size: 3, stride: 1, pad: 1}]]
  - global_avg_pool
  - dense: 3
  - softmax
)",
    R"(
input: [3, 8, 8]
layers:
  - conv: {filters: 10, kernel: 3, pad: 1}
  - relu
  - max_pool: {size: 2, stride: 2}
  - conv_transpose: {filters: 6, kernel: 2, stride: 2}
  - relu
  - dense: 12
  - relu
  - dense: 3
  - softmax
)", kSharedLayers, kEveryOp, kEverySequenceOp};
constexpr std::int64_t kBatch = 12;

Trained train(const TrainingGraph& graph, const Target& target) {
  return train_ten_steps(graph, target, *make_reference_executors());
}

/// x plus noise of up to half the spacing of the 16-bit type at x: a random model of rounding.
class Rounder {
 public:
  Rounder(DType storage, std::uint64_t seed) : storage_(storage), seed_(seed) {}
  double operator()(double x) {
    const double size = std::max(std::abs(x), storage_ == DType::f16 ? 0x1p-14 : 0x1p-126);
    const int bits = storage_ == DType::f16 ? 11 : 8;
    int exponent = 0;
    static_cast<void>(std::frexp(size, &exponent));
    const Random4 draw = random4(seed_, RandomStream::synthetic, 0, 0, ++count_);
    return x + std::ldexp(uniform01(draw.word[0]) - 0.5, exponent - bits);
  }

 private:
  DType storage_;
  std::uint64_t seed_, count_ = 0;
};

template <class F>
void each_element(const TensorView& view, const F& f) {
  const Layout& layout = view.layout;
  for (std::int64_t n = 0; n < layout.extent[0]; ++n)
    for (std::int64_t c = 0; c < layout.extent[1]; ++c)
      for (std::int64_t h = 0; h < layout.extent[2]; ++h)
        for (std::int64_t w = 0; w < layout.extent[3]; ++w) f(layout.offset(n, c, h, w));
}

/// An executor in double whose results, and weights, are rounded at random.
class NoisyExecutor final : public Executor {
 public:
  NoisyExecutor(std::unique_ptr<Executor> inner, const StepDescription& step, Rounder& rounder)
      : inner_(std::move(inner)), rounder_(rounder) {
    const std::string_view type = step.op->type();
    rounds_weight_ = type == "conv" || type == "conv_transpose" || type == "dense";
    rounds_outputs_ = !step.op->contract().arithmetic_outputs;
    backward_ = step.pass == Pass::backward_data;
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return inner_->workspace_bytes(); }
  [[nodiscard]] std::size_t reserve_bytes() const override { return inner_->reserve_bytes(); }
  void bind(const StepTensors& tensors) override {
    tensors_ = tensors;
    StepTensors changed = tensors;
    if (rounds_weight_) {
      weight_ = tensors.parameters[0];
      rounded_.resize(static_cast<std::size_t>(span_elements(weight_.layout)));
      changed.parameters[0].data = rounded_.data();
    }
    inner_->bind(changed);
  }
  void run() override {
    for (std::size_t i = 0; i < rounded_.size(); ++i)
      rounded_[i] = rounder_(weight_.as<double>()[i]);
    inner_->run();
    const auto& written = backward_ ? tensors_.input_gradients : tensors_.outputs;
    for (const TensorView& view : written) {
      if (view.data == nullptr || view.type != DType::f64) continue;
      if (!backward_ && !rounds_outputs_) continue;
      each_element(view, [&](std::int64_t at) {
        double& value = view.as<double>()[at];
        value = rounder_(value);
      });
    }
  }

 private:
  std::unique_ptr<Executor> inner_;
  Rounder& rounder_;
  bool rounds_weight_ = false, rounds_outputs_ = false, backward_ = false;
  StepTensors tensors_;
  TensorView weight_;
  std::vector<double> rounded_;
};

class NoisyExecutors final : public ExecutorFactory {
 public:
  NoisyExecutors(DType storage, std::uint64_t seed, std::size_t workspace_cap)
      : rounder_(storage, seed), workspace_cap_(workspace_cap) {}
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    REQUIRE(step.workspace_cap == workspace_cap_);
    std::unique_ptr<Executor> inner = exact_->make(step);
    if (step.pass == Pass::backward_parameters) return inner;
    return std::make_unique<NoisyExecutor>(std::move(inner), step, rounder_);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int threads) const override {
    return exact_->make_reorder(from, from_type, to, to_type, threads);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int threads) const override {
    return exact_->make_accumulate(layout, type, threads);
  }
  [[nodiscard]] std::string libraries() const override { return exact_->libraries(); }
  Rounder& rounder() { return rounder_; }

 private:
  std::unique_ptr<ExecutorFactory> exact_ = make_reference_executors();
  mutable Rounder rounder_;  // draws in step order
  std::size_t workspace_cap_;
};

/// The deviation of runs whose stored values are rounded at random: medians over eleven runs.
struct Spread {
  double first_loss = 0, losses = 0, weights = 0;
};

Spread measure_spread(const TrainingGraph& graph, const Target& exact, const Trained& expected,
                      DType storage) {
  std::vector<double> first, losses, weights;
  for (std::uint64_t seed = 1; seed <= 11; ++seed) {
    NoisyExecutors executors(storage, seed, exact.workspace_cap);
    const Trained noisy = train_ten_steps(graph, exact, executors, [&](std::vector<float>& images) {
      for (float& value : images) value = static_cast<float>(executors.rounder()(value));
    });
    first.push_back(std::abs(noisy.losses[0] - expected.losses[0]));
    losses.push_back(largest_difference(noisy.losses, expected.losses));
    weights.push_back(largest_difference(noisy.weights, expected.weights));
  }
  return {median(first), median(losses), median(weights)};
}

/// How a network is trained with 16-bit storage.
struct Storage {
  Target target;
  std::unique_ptr<ExecutorFactory> executors = make_reference_executors();
};

/// A run with 16-bit storage against the run in double: within ten times the spread of random
/// rounding, as for float32 (ten medians leave room for an unlucky run, and for a rounding that is
/// the same in all steps that read a value, where the random one is drawn anew for each).
void check_storage(const Storage& storage) {
  const Target& target = storage.target;
  for (const std::string& network : kNetworks) {
    CAPTURE(network);
    const TrainingGraph graph = training_graph(network, kBatch);
    const Trained expected = train(graph, in_double(target));
    const Trained found = train_ten_steps(graph, target, *storage.executors);
    const Spread spread = measure_spread(graph, in_double(target), expected, target.storage);
    MESSAGE(target.name << ", " << name_of(target.storage) << ": spread of the first loss "
                        << spread.first_loss << ", of ten losses " << spread.losses
                        << ", of the weights " << spread.weights << "; found "
                        << std::abs(found.losses[0] - expected.losses[0]) << ", "
                        << largest_difference(found.losses, expected.losses) << ", "
                        << largest_difference(found.weights, expected.weights));
    CHECK(spread.losses < 0.1);  // else the comparison would be meaningless
    CHECK(std::abs(found.losses[0] - expected.losses[0]) <= 10 * spread.first_loss);
    CHECK(largest_difference(found.losses, expected.losses) <= 10 * spread.losses);
    CHECK(largest_difference(found.weights, expected.weights) <= 10 * spread.weights);
    CHECK(found.weights != expected.weights);
  }
}

}  // namespace

TEST_CASE("two networks have every op of the list") {
  // The last softmax is part of the loss; one before it is a layer. identity leaves no node.
  std::set<std::string> types;
  for (const char* const network : {kEveryOp, kEverySequenceOp}) {
    const TrainingGraph graph = training_graph(network, kBatch);
    for (const Node& node : graph.graph.nodes) types.emplace(node.op->type());
  }
  for (const auto& kind : op_kinds())
    CHECK_MESSAGE(types.contains(std::string(kind.name)), kind.name);
}

TEST_CASE("ten steps with the CUDA plan equal those with the CPU's, in double") {
  for (const std::string& network : kNetworks) {
    CAPTURE(network);
    const TrainingGraph graph = training_graph(network, kBatch);
    const Trained cuda = train(graph, in_double(cuda_target(Precision::fp16)));
    Target unfused = reference_target(Precision::fp64);
    unfused.fuse = false;
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
  const TrainingGraph graph = training_graph(kNetworks[0], kBatch);
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
  for (const std::string& network : kNetworks) {
    CAPTURE(network);
    const TrainingGraph graph = training_graph(network, kBatch);
    for (const Target& fused : {reference_target(Precision::fp32), cuda_target(Precision::fp32)}) {
      CAPTURE(fused.name);
      Target apart = fused;
      apart.fuse = false;
      const Trained one = train(graph, fused), other = train(graph, apart);
      CHECK(one.losses == other.losses);
      CHECK(one.weights == other.weights);
      CHECK(one.running == other.running);
    }
  }
}

TEST_CASE("the CUDA plan ends residual blocks in a single step and copies no concatenation") {
  const TrainingGraph graph = training_graph(kNetworks[2], kBatch);
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

TEST_CASE("ten steps with bf16 storage stay within the spread of random rounding") {
  check_storage({cuda_target(Precision::bf16)});
}

TEST_CASE("ten steps in bf16 on the CPU stay within the spread of random rounding" *
          doctest::skip(!cpu_executors_have_bf16())) {
  check_storage({cpu_target(true, Precision::bf16), make_cpu_executors()});
}

TEST_CASE("ten steps with fp16 storage stay within the spread of random rounding") {
  check_storage({cuda_target(Precision::fp16)});
}

TEST_CASE("fp32 on the CUDA plan stays far within the spread of bf16") {
  const TrainingGraph graph = training_graph(kNetworks[0], kBatch);
  const Trained expected = train(graph, in_double(cuda_target(Precision::fp32)));
  const Trained found = train(graph, cuda_target(Precision::fp32));
  // Float's unit roundoff is 2^-16 of bf16's; the bound leaves room for ReLUs that switch.
  CHECK(largest_difference(found.losses, expected.losses) <= 1e-4);
  CHECK(found.losses != expected.losses);
}

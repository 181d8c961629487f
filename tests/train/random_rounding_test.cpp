// Training with 16-bit storage, held to what rounding at random does to a run in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/median.h"
#include "base/philox.h"
#include "compute/devices/cpu_executors.h"
#include "planned_networks.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

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
  for (const std::string& network : kPlannedNetworks) {
    CAPTURE(network);
    const TrainingGraph graph = training_graph(network, kPlannedBatch);
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

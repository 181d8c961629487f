// The functors of a GPU against the CPU launcher: bit-identical in every type and layout that GPU
// plans use.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/math.h"
#include "bound_case.h"
#include "case_check.h"
#include "compute/devices/cuda/kernels.h"
#include "compute/elementwise/cuda/functors.h"
#include "compute/elementwise/functor.h"
#include "compute/norm/channels.h"
#include "device/cuda/cuda_device.h"
#include "devices.h"
#include "gpu.h"
#include "mirrored.h"
#include "ops/loss.h"
#include "ops/metric.h"

namespace trainyard::op_tests {
namespace {

/// Executors of ops only, from a function that returns null for ops that are not functors.
class Functors final : public OpExecutors {
 public:
  using Make = std::function<std::unique_ptr<Executor>(const StepDescription&)>;
  explicit Functors(Make make) : make_(std::move(make)) {}
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    return make_(step);
  }

 private:
  Make make_;
};

std::unique_ptr<Executor> first_of(std::unique_ptr<Executor> listed,
                                   std::unique_ptr<Executor> channels) {
  return listed != nullptr ? std::move(listed) : std::move(channels);
}

Functors cpu_functors() {
  return Functors([](const StepDescription& step) {
    return first_of(make_functor_executor(step), make_channel_executor(step));
  });
}

Functors gpu_functors(const Queue& queue) {
  return Functors([stream = cuda::stream_of(queue)](const StepDescription& step) {
    return first_of(cuda::make_functor_executor(stream, step), cudnn::make_channels(stream, step));
  });
}

bool is_functor(const OpCase& op_case) {
  StepDescription step{.op = op_case.op.get(), .signature = op_case.signature};
  for (const Shape& shape : op_case.inputs) step.inputs.push_back(plain_layout(shape));
  for (const Shape& shape : op_case.signature.outputs) step.outputs.push_back(plain_layout(shape));
  return cpu_functors().make(step) != nullptr;
}

std::vector<OpCase> functor_cases() {
  std::vector<OpCase> cases;
  for (OpCase& op_case : load_all_cases()) {
    if (is_functor(op_case)) cases.push_back(std::move(op_case));
  }
  return cases;
}

CaseResults results_of(const OpCase& op_case, const ExecutorFactory& factory,
                       const BindOptions& options) {
  BoundCase bound(op_case, factory, options);
  bound.load(draw_values(op_case, options.type));
  bound.evaluate();
  bound.forward();
  bound.recompute();
  if (op_case.has_backward) bound.backward();
  return bound.results();
}

void check_case(const OpCase& op_case, const ExecutorFactory& gpu, DType type) {
  for (const bool channels_last : {false, true}) {
    for (const bool in_place : {false, true}) {
      CAPTURE(op_case.name);
      CAPTURE(name_of(type));
      CAPTURE(channels_last);
      CAPTURE(in_place);
      const BindOptions options{.type = type,
                                .layouts = {.channels_last = channels_last},
                                .threads = 1,
                                .in_place = in_place,
                                .needs_gradients = {}};
      CHECK(results_of(op_case, gpu, options) == results_of(op_case, cpu_functors(), options));
    }
  }
}

TEST_CASE("every functor op on a GPU is bit-identical to the CPU's" *
          doctest::skip(test::no_gpu())) {
  const std::vector<OpCase> cases = functor_cases();
  REQUIRE(cases.size() > 100);
  const auto device = cuda::make_cuda_device(0);
  const auto queue = device->make_queue();
  const Functors there = gpu_functors(*queue);
  const MirroredExecutors gpu(*device, *queue, there);
  for (const OpCase& op_case : cases) {
    for (const DType type : {DType::f32, DType::bf16, DType::f16}) check_case(op_case, gpu, type);
  }
}

/// Values, labels and what a loss makes of them.
template <class T>
struct HeadRun {
  static constexpr std::int64_t kRows = 5, kClasses = 7;
  std::vector<T> values, gradients;
  std::vector<float> losses = std::vector<float>(kRows), right = losses;
  std::vector<std::int32_t> labels{0, 6, 3, -1, 2};  // one is not a class
  std::vector<float> bias;
  StepState state{.gradient_scale = 0.375, .valid = 4};

  HeadRun() {
    for (std::int64_t i = 0; i < kRows * kClasses; ++i) {
      values.push_back(T(static_cast<float>(i * 37 % 11) / 4 - 1));
    }
    gradients.resize(values.size());
    for (std::int64_t c = 0; c < kClasses; ++c) bias.push_back(static_cast<float>(c % 3) / 3);
  }
  [[nodiscard]] TensorView matrix(std::vector<T>& list) const {
    return {list.data(), DTypeOf<T>::value, plain_layout({kRows, kClasses})};
  }
  template <class V>
  [[nodiscard]] static TensorView list_of(std::vector<V>& list) {
    return {list.data(), DTypeOf<V>::value, plain_layout({static_cast<std::int64_t>(list.size())})};
  }
  void run(const ExecutorFactory& factory, StepDescription step, StepTensors tensors) {
    step.storage = DTypeOf<T>::value;
    for (const TensorView& input : tensors.inputs) step.inputs.push_back(input.layout);
    if (step.form.accuracy != nullptr) step.inputs.pop_back();
    tensors.batch.state = &state;
    const auto executor = factory.make(step);
    executor->bind(tensors);
    executor->run();
  }
  void run_apart(const ExecutorFactory& factory, const Op& loss, const Op& accuracy) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = T(static_cast<float>(values[i]) + bias[i % kClasses]);
    }
    const std::vector<TensorView> inputs{matrix(values), list_of(labels)};
    run(factory, {.op = &accuracy}, {.inputs = inputs, .outputs = {list_of(right)}});
    run(factory, {.op = &loss}, {.inputs = inputs, .outputs = {list_of(losses)}});
    run(factory, {.op = &loss, .pass = Pass::backward_data},
        {.inputs = inputs, .input_gradients = {matrix(gradients), {}}});
  }
  void run_together(const ExecutorFactory& factory, const Op& loss, const TopKOp& accuracy) {
    run(factory,
        {.op = &loss,
         .pass = Pass::backward_data,
         .form = {.bias = StepForm::Bias::of_other, .loss = true, .accuracy = &accuracy}},
        {.inputs = {matrix(values), list_of(labels), list_of(labels)},
         .outputs = {list_of(losses), list_of(right)},
         .input_gradients = {matrix(gradients)},
         .parameters = {list_of(bias)}});
  }
};

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

/// The same bits, but for those of numbers that are none: a GPU's arithmetic has another NaN.
bool same_losses(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::isnan(x) ? std::isnan(y) : math::bits_of(x) == math::bits_of(y);
  });
}

TEST_CASE_TEMPLATE("a loss, its gradient, an accuracy and a bias in one launch have their bits", T,
                   BFloat16, Float16) {
  const LossOp loss("cross_entropy", LossAttributes{.label_smoothing = 0.1});
  const TopKOp accuracy("top_k", TopKAttributes{.k = 2});
  HeadRun<T> apart;
  apart.run_apart(cpu_functors(), loss, accuracy);
  const auto check = [&](const ExecutorFactory& factory) {
    HeadRun<T> together;
    together.run_together(factory, loss, accuracy);
    CHECK(same_bytes(together.values, apart.values));
    CHECK(same_losses(together.losses, apart.losses));
    CHECK(same_bytes(together.right, apart.right));
    CHECK(same_bytes(together.gradients, apart.gradients));
  };
  check(cpu_functors());
  if (test::no_gpu()) return;
  const auto device = cuda::make_cuda_device(0);
  const auto queue = device->make_queue();
  const Functors there = gpu_functors(*queue);
  check(MirroredExecutors(*device, *queue, there));
}

}  // namespace
}  // namespace trainyard::op_tests

// The functors of a GPU against the CPU launcher: bit-identical in every type and layout that GPU
// plans use.
#include <doctest/doctest.h>

#include <functional>
#include <utility>

#include "bound_case.h"
#include "case_values.h"
#include "device/cuda/cuda_device.h"
#include "exec/cudnn/kernels.h"
#include "exec/functor/channels.h"
#include "exec/functor/cuda/functors.h"
#include "exec/functor/functor.h"
#include "gpu.h"
#include "mirrored.h"
#include "op_executors.h"

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
  const std::shared_ptr<ExecutorFactory> listed = cuda::make_functor_executors(queue);
  return Functors([listed, stream = cuda::stream_of(queue)](const StepDescription& step) {
    return first_of(listed->make(step), cudnn::make_channels(stream, step));
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

}  // namespace
}  // namespace trainyard::op_tests

// Every functor op's cases on a GPU against the CPU launcher: the same bits, in every type and
// layout that GPU plans hold.
#include <doctest/doctest.h>

#include "bound_case.h"
#include "case_values.h"
#include "device/cuda/cuda_device.h"
#include "exec/functor/cuda/functors.h"
#include "exec/functor/functor.h"
#include "gpu.h"
#include "mirrored.h"

namespace trainyard::op_tests {
namespace {

/// The functors on the CPU launcher.
class CpuFunctors final : public ExecutorFactory {
 public:
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    return make_functor_executor(step);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int threads) const override {
    return make_functor_reorder(from, from_type, to, to_type, threads);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int threads) const override {
    return make_functor_accumulate(layout, layout, type, threads);
  }
  [[nodiscard]] std::string libraries() const override { return ""; }
};

bool is_functor(const OpCase& op_case) {
  StepDescription step{.op = op_case.op.get(), .signature = op_case.signature};
  for (const Shape& shape : op_case.inputs) step.inputs.push_back(plain_layout(shape));
  for (const Shape& shape : op_case.signature.outputs) step.outputs.push_back(plain_layout(shape));
  return make_functor_executor(step) != nullptr;
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
                                .wants_gradients = {}};
      CHECK(results_of(op_case, gpu, options) == results_of(op_case, CpuFunctors(), options));
    }
  }
}

TEST_CASE("every functor op gives the CPU's bits on a GPU" * doctest::skip(test::no_gpu())) {
  const std::vector<OpCase> cases = functor_cases();
  REQUIRE(cases.size() > 50);
  const auto device = cuda::make_cuda_device(0);
  const auto queue = device->make_queue();
  const auto executors = cuda::make_functor_executors(*queue);
  const MirroredExecutors gpu(*device, *queue, *executors);
  for (const OpCase& op_case : cases) {
    for (const DType type : {DType::f32, DType::bf16, DType::f16}) check_case(op_case, gpu, type);
  }
}

}  // namespace
}  // namespace trainyard::op_tests

// The functors that GPUs run instead of a library, on the CPU's launcher.
#include "base/error.h"
#include "compute/norm/channels.h"
#include "devices.h"

namespace trainyard::op_tests {
namespace {

class FunctorExecutors final : public OpExecutors {
 public:
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    std::unique_ptr<Executor> executor = make_channel_executor(step);
    TY_CHECK(executor != nullptr, step.op->type());
    return executor;
  }
};

std::unique_ptr<ExecutorFactory> make_functor_executors() {
  return std::make_unique<FunctorExecutors>();
}

DeviceUnderTest device(std::string name, DType type) {
  return {.name = std::move(name),
          .type = type,
          .make = &make_functor_executors,
          .layouts = {{}, {.channels_last = true}},
          .ops = {"bn", "max_pool", "avg_pool", "global_max_pool", "global_avg_pool"}};
}

}  // namespace

std::vector<DeviceUnderTest> functor_devices() {
  return {device("functors f64", DType::f64), device("functors f32", DType::f32),
          device("functors bf16", DType::bf16), device("functors f16", DType::f16)};
}

}  // namespace trainyard::op_tests

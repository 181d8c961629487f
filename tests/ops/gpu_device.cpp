// The executors of a GPU, for the cases of the ops that libraries and channel-row functors run
// there.
#include <doctest/doctest.h>

#include "devices.h"
#include "gpu.h"
#include "gpu_under_test.h"
#include "mirrored.h"

namespace trainyard::op_tests {
namespace {

std::unique_ptr<ExecutorFactory> make_mirrored() {
  static test::GpuUnderTest gpu;  // for all cases
  return std::make_unique<MirroredExecutors>(*gpu.device, *gpu.queue, *gpu.executors);
}

/// Results of 16 bits are stored twice where a bias is added afterwards, and gradients of weights
/// pass through the storage type.
DeviceUnderTest device(std::string name, DType type) {
  return {.name = std::move(name),
          .type = type,
          .make = &make_mirrored,
          .layouts = {{.channels_last = true}},
          .ops = {"conv", "conv_transpose", "dense", "bn", "max_pool", "avg_pool",
                  "global_max_pool", "global_avg_pool", "lstm", "gru", "simple_rnn"},
          .extra_roundings = 1};
}

}  // namespace

std::vector<DeviceUnderTest> devices_under_test() {
  if (test::no_gpu()) return {};
  return {device("cuda f32", DType::f32), device("cuda bf16", DType::bf16),
          device("cuda f16", DType::f16)};
}

TEST_CASE("the cases of this program run in three types" * doctest::skip(test::no_gpu())) {
  CHECK(devices_under_test().size() == 3);
}

}  // namespace trainyard::op_tests

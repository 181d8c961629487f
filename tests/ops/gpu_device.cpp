// The executors of a GPU under the cases of the ops that libraries, and functors over rows of
// channels, serve there.
#include <doctest/doctest.h>

#include "device/cuda/cuda_device.h"
#include "devices.h"
#include "exec/cudnn/cuda_executors.h"
#include "gpu.h"
#include "mirrored.h"

namespace trainyard::op_tests {
namespace {

/// The GPU of all cases.
struct Gpu {
  std::unique_ptr<Device> device = cuda::make_cuda_device(0);
  std::unique_ptr<Queue> queue = device->make_queue();
  std::unique_ptr<ExecutorFactory> executors =
      make_cuda_executors({.device = device.get(),
                           .queue = queue.get(),
                           .gpu = "under test",
                           .cudnn = TY_CUDNN_LIBRARY,
                           .cublaslt = TY_CUBLASLT_LIBRARY,
                           .tune = false,
                           .warn = [](const std::string& text) { FAIL_CHECK(text); }});
};

std::unique_ptr<ExecutorFactory> make_mirrored() {
  static Gpu gpu;
  return std::make_unique<MirroredExecutors>(*gpu.device, *gpu.queue, *gpu.executors);
}

/// Results of 16 bits are stored twice where a bias is added afterwards, and gradients of weights
/// pass through the storage type.
DeviceUnderTest device(std::string name, DType type) {
  return {
      .name = std::move(name),
      .type = type,
      .make = &make_mirrored,
      .layouts = {{.channels_last = true}},
      .ops = {"conv", "dense", "bn", "max_pool", "avg_pool", "global_max_pool", "global_avg_pool"},
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

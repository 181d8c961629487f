// A GPU with its queue and executors, for tests that need one.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "compute/devices/cuda/cuda_executors.h"
#include "device/cuda/cuda_device.h"

namespace trainyard::test {

struct GpuUnderTest {
  explicit GpuUnderTest(cuda::Overlap overlap = cuda::Overlap::allowed)
      : device(cuda::make_cuda_device(0, overlap)) {}

  std::unique_ptr<Device> device;
  std::unique_ptr<Queue> queue = device->make_queue();
  std::unique_ptr<Queue> side_queue = device->make_low_priority_queue();
  std::unique_ptr<ExecutorFactory> executors =
      make_cuda_executors({.device = device.get(),
                           .queue = queue.get(),
                           .side_queue = side_queue.get(),
                           .gpu = "under test",
                           .cudnn = TY_CUDNN_LIBRARY,
                           .cublaslt = TY_CUBLASLT_LIBRARY,
                           .tune = false,
                           .warn = [](const std::string& text) { FAIL_CHECK(text); }});
};

}  // namespace trainyard::test

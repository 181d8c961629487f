// Whether a test can use a GPU.
#pragma once

#include "device/cuda/cuda_device.h"

namespace trainyard::test {

/// For doctest::skip(no_gpu()): such cases are counted as skipped if no GPU is visible.
inline bool no_gpu() {
  static const bool none = cuda::survey().gpus.empty();
  return none;
}

}  // namespace trainyard::test

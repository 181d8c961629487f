// Whether a test can use a GPU.
#pragma once

#include <cstdio>

#include "device/cuda/survey.h"

namespace trainyard::test {

/// False where none is to be seen; then the case is counted as skipped, in the line that CTest
/// looks for.
inline bool has_gpu(const char* name) {
  if (!cuda::survey().gpus.empty()) return true;
  std::printf("SKIPPED %s: no GPU\n", name);
  return false;
}

}  // namespace trainyard::test

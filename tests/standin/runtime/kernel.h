// Kernel launches, as made by `<<<>>>`.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "stream.h"

namespace standin {

struct Kernel {
  const char* form;  // of the launcher: "each"
  cudaStream_t stream;
  std::int64_t blocks, threads;
  const char* functor = "";  // its name, which lives forever
  bool overlaps = false;     // launched with the attribute of programmatic launches
};

/// Enqueues the kernel's work: only on a stream of the thread's device, and within the limits of a
/// launch. A refusal is the thread's last error.
cudaError_t launch_kernel(const Kernel& kernel, Work work);

}  // namespace standin

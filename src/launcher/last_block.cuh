// Which block of a launch is the last: it may read what all of them wrote.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace trainyard {

/// True in the last of `blocks` blocks to arrive, which then sees what all of them wrote.
/// `finished` counts them and is 0 again afterwards.
__device__ inline bool is_last_block(std::uint32_t* finished, unsigned blocks) {
  __shared__ bool last;
  __threadfence();  // what this thread wrote is visible before its block counts
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(finished, blocks - 1) == blocks - 1;
  __syncthreads();
  __threadfence();
  return last;
}

}  // namespace trainyard

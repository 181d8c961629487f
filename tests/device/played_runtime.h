// A CUDA runtime that plays: the linker hands the device's calls to it (--wrap), so that what only
// a GPU answers can be held without one.
#pragma once

#include <cuda_runtime_api.h>

namespace trainyard::test {

struct PlayedRuntime {
  cudaError_t query = cudaSuccess;  // what cudaEventQuery answers
  cudaError_t last = cudaSuccess;   // what cudaGetLastError finds, and clears
};
/// The one that answers; a case sets it as it needs.
PlayedRuntime& played_runtime();

}  // namespace trainyard::test

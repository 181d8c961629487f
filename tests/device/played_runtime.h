// A simulated CUDA runtime: the linker redirects the device's calls to it (--wrap), to test without
// a GPU what only a GPU reports.
#pragma once

#include <cuda_runtime_api.h>

namespace trainyard::test {

struct PlayedRuntime {
  cudaError_t query = cudaSuccess;  // result of cudaEventQuery
  cudaError_t last = cudaSuccess;   // result of cudaGetLastError, which clears it
};
/// The simulated runtime; a case sets it as needed.
PlayedRuntime& played_runtime();

}  // namespace trainyard::test

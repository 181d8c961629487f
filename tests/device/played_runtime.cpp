#include "played_runtime.h"

#include <cstdio>
#include <utility>

namespace trainyard::test {

PlayedRuntime& played_runtime() {
  static PlayedRuntime runtime;
  return runtime;
}

namespace {

/// As in the runtime: a status other than success remains for cudaGetLastError to find.
cudaError_t answer(cudaError_t status) {
  if (status != cudaSuccess) played_runtime().last = status;
  return status;
}

}  // namespace
}  // namespace trainyard::test

using trainyard::test::answer;
using trainyard::test::played_runtime;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the linker's names
cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t __wrap_cudaSetDevice(int) { return cudaSuccess; }
cudaError_t __wrap_cudaFree(void*) { return cudaSuccess; }
cudaError_t __wrap_cudaDeviceGetPCIBusId(char* bus, int bytes, int) {
  std::snprintf(bus, static_cast<std::size_t>(bytes), "0000:17:00.0");
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  static int one;
  *event = reinterpret_cast<cudaEvent_t>(&one);
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t __wrap_cudaEventQuery(cudaEvent_t) { return answer(played_runtime().query); }
cudaError_t __wrap_cudaGetLastError() { return std::exchange(played_runtime().last, cudaSuccess); }
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
}

#include "device/cuda/check.h"

#include <string>

#include "base/error.h"

namespace trainyard::cuda {

void check(cudaError_t status, std::string_view operation) {
  if (status == cudaSuccess) return;
  // A call that failed leaves its error behind; the next check must not find it.
  ignore(cudaGetLastError());
  // "cudaMalloc(&data, bytes)" to "cudaMalloc": what stands between the brackets is ours alone.
  const std::string name(operation.substr(0, operation.find('(')));
  throw Error(ErrorKind::device, "CUDA: " + name + " failed: " + cudaGetErrorString(status) + " (" +
                                     cudaGetErrorName(status) + ")");
}

CurrentDevice::CurrentDevice(int ordinal) {
  TY_CUDA(cudaGetDevice(&before_));
  if (ordinal != before_) TY_CUDA(cudaSetDevice(ordinal));
}

CurrentDevice::~CurrentDevice() { ignore(cudaSetDevice(before_)); }

}  // namespace trainyard::cuda

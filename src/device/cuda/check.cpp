#include "device/cuda/check.h"

#include "base/gpu_error.h"

namespace trainyard::cuda {

namespace {

CudaStatus status_of(cudaError_t status) {
  return {status, cudaGetErrorName(status), cudaGetErrorString(status)};
}

}  // namespace

void check(cudaError_t status, std::string_view operation) {
  if (status == cudaSuccess) return;
  // A failed call leaves its error behind; the next check must not find it.
  ignore(cudaGetLastError());
  // "cudaMalloc(&data, bytes)" to "cudaMalloc": the arguments mean nothing to the user.
  const std::string name(operation.substr(0, operation.find('(')));
  throw_cuda_error(status_of(status), name);
}

cudaError_t device_fault() {
  // Any call that queries the device reports it; this one is allowed while a queue is captured.
  std::size_t free = 0, total = 0;
  const cudaError_t status = cudaMemGetInfo(&free, &total);
  if (status != cudaSuccess) ignore(cudaGetLastError());
  return is_gpu_fault(status) ? status : cudaSuccess;
}

void throw_library_error(const std::string& reason, cudaError_t fault) {
  if (fault == cudaSuccess) throw device_error(reason);
  throw GpuError(reason + "; the GPU has failed: " + text_of(status_of(fault)));
}

CurrentDevice::CurrentDevice(int ordinal) {
  TY_CUDA(cudaGetDevice(&before_));
  if (ordinal != before_) TY_CUDA(cudaSetDevice(ordinal));
}

CurrentDevice::~CurrentDevice() { ignore(cudaSetDevice(before_)); }

}  // namespace trainyard::cuda

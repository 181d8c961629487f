#include "device/cuda/check.h"

#include <string>

#include "base/gpu_error.h"

namespace trainyard::cuda {

namespace {

/// What a person can do about a failure that is the hardware's.
std::string advice(cudaError_t status) {
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorUnknown:
      return "; dmesg names the Xid of such a failure, nvidia-smi -q -d ECC counts those of "
             "memory; "
             "if this GPU fails again, leave it out with --gpus";
    case cudaErrorDevicesUnavailable:
      return "; another process has the GPU, or it is in exclusive mode: nvidia-smi says which";
    default:
      return "";
  }
}

}  // namespace

void check(cudaError_t status, std::string_view operation) {
  if (status == cudaSuccess) return;
  // A call that failed leaves its error behind; the next check must not find it.
  ignore(cudaGetLastError());
  // "cudaMalloc(&data, bytes)" to "cudaMalloc": what stands between the brackets is ours alone.
  const std::string name(operation.substr(0, operation.find('(')));
  throw GpuError("CUDA: " + name + " failed: " + cudaGetErrorString(status) + " (" +
                 cudaGetErrorName(status) + ")" + advice(status));
}

CurrentDevice::CurrentDevice(int ordinal) {
  TY_CUDA(cudaGetDevice(&before_));
  if (ordinal != before_) TY_CUDA(cudaSetDevice(ordinal));
}

CurrentDevice::~CurrentDevice() { ignore(cudaSetDevice(before_)); }

}  // namespace trainyard::cuda

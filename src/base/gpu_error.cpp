#include "base/gpu_error.h"

namespace trainyard {
namespace {

constexpr int kMemoryAllocation = 2;  // cudaErrorMemoryAllocation

/// By number, as above.
const char* advice(int status) {
  switch (status) {
    case kMemoryAllocation:
      return "; use a smaller batch, or stop other programs on that GPU: nvidia-smi lists them";
    case 35:   // cudaErrorInsufficientDriver
    case 222:  // cudaErrorUnsupportedPtxVersion
      return "; install a newer NVIDIA driver: train doctor shows which CUDA this one supports";
    case 46:  // cudaErrorDevicesUnavailable
      return "; another process has the GPU, or it is in exclusive mode: nvidia-smi shows which";
    case 209:  // cudaErrorNoKernelImageForDevice
      return "; no kernel of this program is compiled for that GPU: leave it out with --gpus, or "
             "build with CMAKE_CUDA_ARCHITECTURES for its compute capability, which train doctor "
             "shows";
    case 214:  // cudaErrorECCUncorrectable
    case 220:  // cudaErrorNvlinkUncorrectable
    case 714:  // cudaErrorHardwareStackError
    case 999:  // cudaErrorUnknown
      return "; dmesg names the Xid of such a failure, nvidia-smi -q -d ECC counts memory errors; "
             "if this GPU fails again, leave it out with --gpus";
    default:
      return "";
  }
}

}  // namespace

std::string text_of(const CudaStatus& status) {
  return std::string(status.text) + " (" + status.name + ")" + advice(status.code);
}

void throw_cuda_error(const CudaStatus& status, const std::string& operation) {
  const std::string message = "CUDA: " + operation + " failed: " + text_of(status);
  if (is_gpu_fault(status.code)) throw GpuError(message);
  throw Error(status.code == kMemoryAllocation ? ErrorKind::memory : ErrorKind::device, message);
}

}  // namespace trainyard

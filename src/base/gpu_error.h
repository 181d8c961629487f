// Errors that a GPU itself has made.
#pragma once

#include <string>

#include "base/error.h"

namespace trainyard {

/// An Error{device} of the GPU of the thread that throws it, which it does not name: what this GPU
/// did, and not what was asked of it.
class GpuError : public Error {
 public:
  explicit GpuError(const std::string& message) : Error(ErrorKind::device, message) {}
};

/// Whether a status of the CUDA runtime is a fault of the GPU: one of those that end all work
/// there, and that every later call meets again. Numbers, which CUDA never changes: nothing of it
/// is included here.
constexpr bool is_gpu_fault(int status) {
  switch (status) {
    case 214:  // cudaErrorECCUncorrectable
    case 220:  // cudaErrorNvlinkUncorrectable
    case 226:  // cudaErrorContained
    case 700:  // cudaErrorIllegalAddress
    case 702:  // cudaErrorLaunchTimeout
    case 710:  // cudaErrorAssert
    case 714:  // cudaErrorHardwareStackError
    case 715:  // cudaErrorIllegalInstruction
    case 716:  // cudaErrorMisalignedAddress
    case 717:  // cudaErrorInvalidAddressSpace
    case 718:  // cudaErrorInvalidPc
    case 719:  // cudaErrorLaunchFailure
    case 911:  // cudaErrorExternalDevice
    case 999:  // cudaErrorUnknown
      return true;
    default:
      return false;
  }
}

/// A status of the CUDA runtime: its number, and what cudaGetErrorName and cudaGetErrorString say.
struct CudaStatus {
  int code;
  const char* name;
  const char* text;
};

/// "out of memory (cudaErrorMemoryAllocation)", and what a person can do, where there is something.
[[nodiscard]] std::string text_of(const CudaStatus& status);

/// Throws "CUDA: OPERATION failed: " and the status's text: a GpuError if it is such a fault,
/// Error{memory} if it says that memory lacked, else Error{device}.
[[noreturn]] void throw_cuda_error(const CudaStatus& status, const std::string& operation);

}  // namespace trainyard

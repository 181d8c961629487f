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

/// Throws a GpuError if `status` is such a fault, else an Error{device}.
[[noreturn]] inline void throw_cuda_error(int status, const std::string& message) {
  if (is_gpu_fault(status)) throw GpuError(message);
  throw Error(ErrorKind::device, message);
}

}  // namespace trainyard

// Errors of a GPU itself.
#pragma once

#include <string>

#include "base/error.h"

namespace trainyard {

/// An Error{device} about the current GPU of the throwing thread, which it does not name: a failure
/// of the GPU, not of the request.
class GpuError : public Error {
 public:
  explicit GpuError(const std::string& message) : Error(ErrorKind::device, message) {}
};

/// Whether a status of the CUDA runtime is a fault of the GPU: one that ends all work there and
/// that every later call returns again. By number, since CUDA is not included here; CUDA never
/// changes these numbers.
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

/// A status of the CUDA runtime: its number, and the texts of cudaGetErrorName and
/// cudaGetErrorString.
struct CudaStatus {
  int code;
  const char* name;
  const char* text;
};

/// "out of memory (cudaErrorMemoryAllocation)", and advice if there is any.
[[nodiscard]] std::string text_of(const CudaStatus& status);

/// Throws "CUDA: OPERATION failed: " and the status's text: a GpuError for a fault of the GPU,
/// Error{memory} if memory ran out, else Error{device}.
[[noreturn]] void throw_cuda_error(const CudaStatus& status, const std::string& operation);

}  // namespace trainyard

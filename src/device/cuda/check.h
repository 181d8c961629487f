// Checks of CUDA calls, and the current device while they are made.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

namespace trainyard::cuda {

/// Throws as throw_cuda_error (base/gpu_error.h) does, unless the status is success.
void check(cudaError_t status, std::string_view operation);

/// The fault that ended all work of the current device; success if there is none.
[[nodiscard]] cudaError_t device_fault();
/// For a library that failed with this reason: throws Error{device} or, if `fault` is not success,
/// a GpuError with CUDA's text.
[[noreturn]] void throw_library_error(const std::string& reason, cudaError_t fault);

/// Logs nothing, throws nothing: for destructors.
inline void ignore(cudaError_t) {}

/// Makes a device current for the calling thread, and restores the previous one at the end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int ordinal);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace trainyard::cuda

/// Evaluates a CUDA call once and checks it, with the call's text as the operation.
#define TY_CUDA(call) ::trainyard::cuda::check((call), #call)

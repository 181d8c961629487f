// Results of failed calls of the stand-in NCCL.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <stdexcept>
#include <string>

namespace standin::nccl {

/// Ends a call, or the work of a communicator's thread.
class Failure : public std::runtime_error {
 public:
  Failure(ncclResult_t result, const std::string& text)
      : std::runtime_error(text), result_(result) {}
  [[nodiscard]] ncclResult_t result() const { return result_; }

 private:
  ncclResult_t result_;
};

/// Throws NCCL's failure for a CUDA call that did not succeed.
void require_cuda(cudaError_t status);

/// Throws the failure requested for `call` (faults.h): "ncclSystemError", optionally followed by a
/// text for ncclGetLastError.
void require_none_requested(const char* call, int device);

/// The last failure of this process, whatever its communicator, as in NCCL 2.28 (debug.cc).
void note_failure(const std::string& text);
[[nodiscard]] const char* last_failure();

}  // namespace standin::nccl

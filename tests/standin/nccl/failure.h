// What calls of the stand-in NCCL answer when they fail.
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

/// Throws NCCL's failure for a call of CUDA that did not succeed.
void require_cuda(cudaError_t status);

/// Throws the failure that is requested of `call` (faults.h): "ncclSystemError", behind which a
/// text may stand for ncclGetLastError.
void require_none_requested(const char* call, int device);

/// The last failure of this process, whatever its communicator, as NCCL 2.28 keeps it (debug.cc).
void note_failure(const std::string& text);
[[nodiscard]] const char* last_failure();

}  // namespace standin::nccl

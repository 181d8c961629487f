#include "status.h"

#include <cuda_runtime_api.h>

#include <array>

#include "../faults.h"

namespace standin::cudnn {
namespace {

thread_local std::string reason;

struct Named {
  cudnnStatus_t status;
  const char* name;
};

#define TY_STATUS(name) \
  { name, #name }

// Statuses that the stand-in returns, and those that tests request.
constexpr std::array<Named, 21> kNames{{
    TY_STATUS(CUDNN_STATUS_SUCCESS),
    TY_STATUS(CUDNN_STATUS_NOT_INITIALIZED),
    TY_STATUS(CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH),
    TY_STATUS(CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED),
    TY_STATUS(CUDNN_STATUS_BAD_PARAM),
    TY_STATUS(CUDNN_STATUS_BAD_PARAM_NULL_POINTER),
    TY_STATUS(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER),
    TY_STATUS(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED),
    TY_STATUS(CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH),
    TY_STATUS(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE),
    TY_STATUS(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE),
    TY_STATUS(CUDNN_STATUS_NOT_SUPPORTED),
    TY_STATUS(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH),
    TY_STATUS(CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING),
    TY_STATUS(CUDNN_STATUS_INTERNAL_ERROR),
    TY_STATUS(CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED),
    TY_STATUS(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED),
    TY_STATUS(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED),
    TY_STATUS(CUDNN_STATUS_EXECUTION_FAILED),
    TY_STATUS(CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER),
    TY_STATUS(CUDNN_STATUS_EXECUTION_FAILED_CUDART),
}};

#undef TY_STATUS

}  // namespace

cudnnStatus_t refuse(cudnnStatus_t status, std::string_view why) {
  reason = why;
  return status;
}

const std::string& last_reason() { return reason; }

const char* name_of(cudnnStatus_t status) {
  for (const Named& named : kNames) {
    if (named.status == status) return named.name;
  }
  return "CUDNN_UNKNOWN_STATUS";
}

cudnnStatus_t requested_status(std::string_view call) {
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) device = -1;
  const std::string_view wanted = requested_failure(call, device);
  if (wanted.empty()) return CUDNN_STATUS_SUCCESS;
  for (const Named& named : kNames) {
    if (wanted == named.name) return refuse(named.status, "as STANDIN_FAULTS asked");
  }
  return refuse(CUDNN_STATUS_INTERNAL_ERROR, "STANDIN_FAULTS requests an unknown status");
}

}  // namespace standin::cudnn

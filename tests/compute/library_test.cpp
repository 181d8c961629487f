// How failures of cuDNN and cuBLASLt are reported.
#include "compute/conv/cudnn/library.h"

#include <doctest/doctest.h>

#include "base/gpu_error.h"
#include "compute/matmul/cublaslt/matmul.h"
#include "scripted_cudnn.h"

using namespace trainyard;
using namespace trainyard::cudnn;

namespace {

cudaError_t no_fault() { return cudaSuccess; }
cudaError_t illegal_address() { return cudaErrorIllegalAddress; }

template <class F>
bool is_of_gpu(const F& f) {
  try {
    f();
  } catch (const GpuError&) {
    return true;
  } catch (const Error&) {
  }
  return false;
}

}  // namespace

TEST_CASE("a failure of cuDNN is a GPU error only if the GPU has failed") {
  Functions functions = trainyard::testing::scripted_library().call();
  for (const cudnnStatus_t status : {CUDNN_STATUS_BAD_PARAM, CUDNN_STATUS_EXECUTION_FAILED}) {
    functions.device_fault = no_fault;
    CHECK_FALSE(is_of_gpu([&] { Library(functions).check(status, "running a convolution"); }));
    functions.device_fault = illegal_address;
    CHECK(is_of_gpu([&] { Library(functions).check(status, "running a convolution"); }));
  }
}

TEST_CASE("a failure of cuBLASLt is a GPU error only if the GPU has failed") {
  MatmulFunctions functions{};
  functions.create = [](cublasLtHandle_t*) { return CUBLAS_STATUS_EXECUTION_FAILED; };
  functions.status_string = [](cublasStatus_t) { return "EXECUTION_FAILED"; };
  functions.device_fault = no_fault;
  CHECK_FALSE(is_of_gpu([&] { const MatmulLibrary library(functions); }));
  functions.device_fault = illegal_address;
  CHECK(is_of_gpu([&] { const MatmulLibrary library(functions); }));
}

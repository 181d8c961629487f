// The parts of the CUDA device that can be tested without a GPU: errors, and the survey.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "base/gpu_error.h"
#include "device/cuda/check.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/nvml.h"

namespace trainyard::cuda {
namespace {

struct Failure {
  int code = 0;
  std::string text;
};

template <class F>
Failure failure(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return {error.exit_code(), error.what()};
  }
  return {};
}

TEST_CASE("a failed call is named, with CUDA's own text") {
  const Failure found =
      failure([] { check(cudaErrorInvalidValue, "cudaMemcpy(to, from, bytes)"); });
  CHECK(found.code == 8);
  CHECK(found.text == "CUDA: cudaMemcpy failed: invalid argument (cudaErrorInvalidValue)");
  CHECK(failure([] { check(cudaSuccess, "cudaMalloc(&p, 1)"); }).code == 0);
}

TEST_CASE("a hardware failure names further sources, and what to do") {
  const Failure found =
      failure([] { check(cudaErrorECCUncorrectable, "cudaEventSynchronize(event)"); });
  CHECK(found.code == 8);
  CHECK(found.text ==
        "CUDA: cudaEventSynchronize failed: uncorrectable ECC error encountered "
        "(cudaErrorECCUncorrectable); dmesg names the Xid of such a failure, nvidia-smi -q -d ECC "
        "counts memory errors; if this GPU fails again, leave it out with --gpus");
}

TEST_CASE("an error with a known remedy names it, and out of memory has its own exit code") {
  const std::pair<cudaError_t, Failure> cases[] = {
      {cudaErrorMemoryAllocation,
       {6,
        "out of memory (cudaErrorMemoryAllocation); use a smaller batch, or stop other programs on "
        "that GPU: nvidia-smi lists them"}},
      {cudaErrorInsufficientDriver,
       {8,
        "CUDA driver version is insufficient for CUDA runtime version "
        "(cudaErrorInsufficientDriver); install a newer NVIDIA driver: train doctor shows which "
        "CUDA this one supports"}},
      {cudaErrorUnsupportedPtxVersion,
       {8,
        "the provided PTX was compiled with an unsupported toolchain. "
        "(cudaErrorUnsupportedPtxVersion); install a newer NVIDIA driver: train doctor shows which "
        "CUDA this one supports"}},
      {cudaErrorNoKernelImageForDevice,
       {8,
        "no kernel image is available for execution on the device "
        "(cudaErrorNoKernelImageForDevice); no kernel of this program is compiled for that GPU: "
        "leave it out with --gpus, or build with CMAKE_CUDA_ARCHITECTURES for its compute "
        "capability, which train doctor shows"}},
      {cudaErrorDevicesUnavailable,
       {8,
        "CUDA-capable device(s) is/are busy or unavailable (cudaErrorDevicesUnavailable); another "
        "process has the GPU, or it is in exclusive mode: nvidia-smi shows which"}}};
  for (const auto& [status, expected] : cases) {
    const Failure found = failure([&] { check(status, "cudaFree(memory)"); });
    CHECK(found.code == expected.code);
    CHECK(found.text == "CUDA: cudaFree failed: " + expected.text);
  }
}

/// Whether a failed call is reported as a failure of the GPU itself.
bool is_of_gpu(cudaError_t status) {
  try {
    check(status, "cudaMalloc(&p, 1)");
  } catch (const GpuError&) {
    return true;
  } catch (const Error&) {
  }
  return false;
}

TEST_CASE("errors that persist are the GPU's, those of a single call are not") {
  for (const cudaError_t status :
       {cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable, cudaErrorIllegalAddress,
        cudaErrorLaunchTimeout, cudaErrorAssert, cudaErrorHardwareStackError,
        cudaErrorIllegalInstruction, cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace,
        cudaErrorInvalidPc, cudaErrorLaunchFailure, cudaErrorExternalDevice, cudaErrorUnknown}) {
    CAPTURE(cudaGetErrorName(status));
    CHECK(is_of_gpu(status));
  }
  for (const cudaError_t status :
       {cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorInvalidConfiguration,
        cudaErrorNoDevice, cudaErrorNoKernelImageForDevice, cudaErrorLaunchOutOfResources,
        cudaErrorStreamCaptureUnsupported, cudaErrorInvalidResourceHandle}) {
    CAPTURE(cudaGetErrorName(status));
    CHECK_FALSE(is_of_gpu(status));
  }
}

TEST_CASE("a library's failure is the GPU's if the GPU has failed, with both reasons") {
  CHECK(failure([] { throw_library_error("cuDNN: x: BAD_PARAM", cudaSuccess); }).text ==
        "cuDNN: x: BAD_PARAM");
  CHECK_THROWS_WITH_AS(throw_library_error("cuDNN: x: EXECUTION_FAILED", cudaErrorLaunchFailure),
                       "cuDNN: x: EXECUTION_FAILED; the GPU has failed: unspecified launch failure "
                       "(cudaErrorLaunchFailure)",
                       GpuError);
}

TEST_CASE("no fault is found without a GPU, or with a working one") {
  CHECK(device_fault() == cudaSuccess);
}

TEST_CASE("a machine without a driver is a survey result, not an error") {
  const GpuSurvey found = survey();
  CHECK(found.runtime_cuda >= 12080);
  if (found.driver_cuda != 0) return;
  CHECK(found.gpus.empty());
  CHECK(found.problem != "");
  CHECK(found.driver == "");
  CHECK_FALSE(Nvml().load_of("0000:17:00.0").has_value());
}

TEST_CASE("a device that does not exist is a device error") {
  const Failure found = failure([] { static_cast<void>(make_cuda_device(1000)); });
  CHECK(found.code == 8);
  CHECK(found.text.starts_with("CUDA: cuda"));
}

}  // namespace
}  // namespace trainyard::cuda

// Requested failures. Each case that breaks a device uses a separate one.
#include "faults.h"

#include <dlfcn.h>

#include "control.h"
#include "kinds.h"
#include "test_streams.h"

namespace standin::test {
namespace {

/// Failures while it exists, on a device that is current.
struct Faults {
  explicit Faults(const char* text, int device = 0) {
    REQUIRE(cudaSetDevice(device) == cudaSuccess);
    request_failures(text);
  }
  ~Faults() {
    request_failures("");
    static_cast<void>(cudaSetDevice(0));
    static_cast<void>(cudaGetLastError());
  }
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
};

constexpr auto kNothing = [] { return true; };

TEST_CASE("a request names a call, a device and a number, and may continue from there") {
  const Faults faults("one=always;two:2=once;three:2+=on;four@1:1=there");
  CHECK(requested_failure("one", 0) == "always");
  CHECK(requested_failure("one", 0) == "always");
  CHECK(requested_failure("two", 0) == "");
  CHECK(requested_failure("two", 0) == "once");
  CHECK(requested_failure("two", 0) == "");
  CHECK(requested_failure("three", 0) == "");
  CHECK(requested_failure("three", 0) == "on");
  CHECK(requested_failure("three", 0) == "on");
  CHECK(requested_failure("four", 0) == "");
  CHECK(requested_failure("four", 1) == "there");
  CHECK(requested_failure("five", 0) == "");
}

TEST_CASE("the n-th allocation fails, and the next does not") {
  const Faults faults("cudaMalloc:2=cudaErrorMemoryAllocation");
  const TestMemory first(4);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 4) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  const TestMemory third(4);
}

TEST_CASE("a launch without code for the GPU fails by itself") {
  const Faults faults("each:1=cudaErrorNoKernelImageForDevice");
  const TestStream stream;
  CHECK(launch_kernel({"each", stream.handle, 1, 1}, kNothing) == cudaErrorNoKernelImageForDevice);
  CHECK(cudaGetLastError() == cudaErrorNoKernelImageForDevice);
  CHECK(launch_kernel({"each", stream.handle, 1, 1}, kNothing) == cudaSuccess);
  CHECK(stream.wait() == cudaSuccess);
}

TEST_CASE("a fault of work surfaces later, in any call, forever, only on its device") {
  const Faults faults("execute@4:2=cudaErrorECCUncorrectable", 4);
  const Patient patient;
  Log log;
  const TestStream stream;
  const TestEvent event;
  CHECK(log.put(stream, "one") == cudaSuccess);
  CHECK(log.put(stream, "two") == cudaSuccess);
  CHECK(event.record(stream) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(stream.wait() == cudaErrorECCUncorrectable);
  CHECK(log.text() == "one");
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 4) == cudaErrorECCUncorrectable);
  CHECK(cudaEventQuery(event.handle) == cudaErrorECCUncorrectable);
  CHECK(cudaEventSynchronize(event.handle) == cudaErrorECCUncorrectable);
  CHECK(log.put(stream, "three") == cudaErrorECCUncorrectable);
  CHECK(cudaGetLastError() == cudaErrorECCUncorrectable);
  CHECK(cudaGetLastError() == cudaErrorECCUncorrectable);
  CHECK(cudaSetDevice(0) == cudaSuccess);
  const TestMemory other(4);
}

TEST_CASE("a failing graph node breaks the device") {
  const Faults faults("execute@5:2=cudaErrorIllegalAddress", 5);
  const Patient patient;
  Log log;
  const TestStream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CHECK(stream.begin() == cudaSuccess);
  CHECK(log.put(stream, "one") == cudaSuccess);
  CHECK(log.put(stream, "two") == cudaSuccess);
  CHECK(cudaStreamEndCapture(stream.handle, &graph) == cudaSuccess);
  CHECK(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  CHECK(cudaGraphLaunch(executable, stream.handle) == cudaSuccess);
  CHECK(stream.wait() == cudaErrorIllegalAddress);
  CHECK(log.text() == "one");
}

TEST_CASE("work that can never continue ends when its device breaks") {
  REQUIRE(cudaSetDevice(6) == cudaSuccess);
  const TestStream stream;
  CHECK(enqueue(stream.handle, "wait", [] {
          break_device(6, cudaErrorUnknown);
          return false;
        }) == cudaSuccess);
  CHECK(stream.wait() == cudaErrorUnknown);
  CHECK(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("a device in use by another process, or not set up, is an error when it is used") {
  const Faults faults(
      "context@3:1=cudaErrorDevicesUnavailable;cudaGetDeviceCount=cudaErrorSystemNotReady");
  int count = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaErrorSystemNotReady);
  CHECK(count == -1);
  CHECK(cudaSetDevice(3) == cudaErrorDevicesUnavailable);
  CHECK(cudaSetDevice(3) == cudaSuccess);
}

TEST_CASE("errors have CUDA's names and texts" * doctest::skip(*TY_CUDART == 0)) {
  void* const library = dlopen(TY_CUDART, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  auto* const name =
      reinterpret_cast<decltype(&cudaGetErrorName)>(dlsym(library, "cudaGetErrorName"));
  auto* const text =
      reinterpret_cast<decltype(&cudaGetErrorString)>(dlsym(library, "cudaGetErrorString"));
  for (int number = 0; number < 1000; ++number) {
    const auto error = static_cast<cudaError_t>(number);
    CHECK(std::string(cudaGetErrorName(error)) == name(error));
    CHECK(std::string(cudaGetErrorString(error)) == text(error));
  }
  dlclose(library);
}

}  // namespace
}  // namespace standin::test

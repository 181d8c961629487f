// Devices, memory and launch limits of the stand-in runtime.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "kinds.h"
#include "test_streams.h"

namespace standin::test {
namespace {

// Read when the runtime is first called.
[[maybe_unused]] const int kGpus = setenv("STANDIN_GPUS", "h200,h200,rtx4090,t4,h200,h200,h200", 1);
[[maybe_unused]] const int kVisible = unsetenv("CUDA_VISIBLE_DEVICES");

constexpr auto kNoWork = [] { return true; };

/// Whether the host can read a byte; tested by a system call, without a signal.
bool is_readable(const void* memory) {
  const int null = open("/dev/random", O_WRONLY);
  const bool readable = write(null, memory, 1) == 1;
  CHECK((readable || errno == EFAULT));
  close(null);
  return readable;
}

TEST_CASE("GPUs are those of the variable, each with its kind's properties") {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count) == cudaSuccess);
  REQUIRE(count == 7);
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceProperties(&properties, 2) == cudaSuccess);
  CHECK(std::string(properties.name) == "NVIDIA GeForce RTX 4090");
  CHECK(properties.major * 10 + properties.minor == 89);
  int reads = 0;
  CHECK(cudaDeviceCanAccessPeer(&reads, 0, 1) == cudaSuccess);
  CHECK(reads == 1);
  CHECK(cudaDeviceCanAccessPeer(&reads, 0, 2) == cudaSuccess);
  CHECK(reads == 0);
  char bus[16] = "";
  CHECK(cudaDeviceGetPCIBusId(bus, sizeof(bus), 3) == cudaSuccess);
  CHECK(std::string(bus) == "0000:04:00.0");
  CHECK(cudaGetDeviceProperties(&properties, 7) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("each thread has its own current device") {
  CHECK(cudaSetDevice(1) == cudaSuccess);
  int other = -1, own = -1;
  std::thread([&] { CHECK(cudaGetDevice(&other) == cudaSuccess); }).join();
  CHECK(cudaGetDevice(&own) == cudaSuccess);
  CHECK(other == 0);
  CHECK(own == 1);
  CHECK(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("memory is counted, and the host cannot read it") {
  std::size_t before = 0, after = 0, total = 0;
  CHECK(cudaMemGetInfo(&before, &total) == cudaSuccess);
  {
    const TestMemory memory(1 << 20);
    CHECK(cudaMemGetInfo(&after, &total) == cudaSuccess);
    CHECK(before - after == 1 << 20);
    // If it is open because the device is working, that will end.
    while (is_readable(memory.data)) std::this_thread::yield();
    CHECK(is_device_memory(memory.data, 1 << 20));
    CHECK_FALSE(is_device_memory(memory.data, (1 << 20) + 1));
  }
  CHECK(cudaMemGetInfo(&after, &total) == cudaSuccess);
  CHECK(before == after);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, total + 1) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE("copies beyond a block, and in the wrong direction, are refused") {
  const TestStream stream;
  const TestMemory memory(8);
  char host[16] = "";
  const auto copied = [&](std::size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(memory.data, host, bytes, kind, stream.handle);
  };
  CHECK(copied(8, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(copied(9, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(copied(8, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(copied(8, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemsetAsync(memory.data, 0, 9, stream.handle) == cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("a launch has limits, and is on a stream of the current device") {
  const TestStream stream;
  const auto launched = [&](std::int64_t blocks, std::int64_t threads) {
    return launch_kernel({"each", stream.handle, blocks, threads}, kNoWork);
  };
  CHECK(launched(0x7fffffff, 1024) == cudaSuccess);
  CHECK(launched(0, 128) == cudaErrorInvalidConfiguration);
  CHECK(launched(std::int64_t{1} << 31, 128) == cudaErrorInvalidConfiguration);
  CHECK(launched(1, 1025) == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaSetDevice(1) == cudaSuccess);
  CHECK(launched(1, 1) == cudaErrorInvalidResourceHandle);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  CHECK(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("invalid handles are refused") {
  int no_handle = 0;
  auto* const stream = reinterpret_cast<cudaStream_t>(&no_handle);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventQuery(reinterpret_cast<cudaEvent_t>(&no_handle)) ==
        cudaErrorInvalidResourceHandle);
  CHECK(cudaGraphLaunch(reinterpret_cast<cudaGraphExec_t>(&no_handle), nullptr) ==
        cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

}  // namespace
}  // namespace standin::test

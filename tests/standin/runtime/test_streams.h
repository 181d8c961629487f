// Streams and memory for tests, on the current device.
#pragma once

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "stream.h"

namespace standin::test {

/// While one of these exists, work is done only if the host waits for it.
class Patient {
 public:
  Patient();
  ~Patient();
};

struct TestStream {
  explicit TestStream(unsigned flags = cudaStreamNonBlocking) {
    REQUIRE(cudaStreamCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  ~TestStream() { static_cast<void>(cudaStreamDestroy(handle)); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  [[nodiscard]] cudaError_t wait() const { return cudaStreamSynchronize(handle); }
  [[nodiscard]] cudaError_t begin(
      cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) const {
    return cudaStreamBeginCapture(handle, mode);
  }
  /// Ends the capture, and releases the graph.
  [[nodiscard]] cudaError_t end() const {
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(handle, &graph);
    CHECK((graph == nullptr) == (status != cudaSuccess));
    if (graph != nullptr) CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    return status;
  }

  cudaStream_t handle = nullptr;
};

struct TestEvent {
  explicit TestEvent(unsigned flags = cudaEventDisableTiming) {
    REQUIRE(cudaEventCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  ~TestEvent() { static_cast<void>(cudaEventDestroy(handle)); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  [[nodiscard]] cudaError_t record(const TestStream& stream) const {
    return cudaEventRecord(handle, stream.handle);
  }
  /// Work enqueued on the stream from now on waits for it.
  [[nodiscard]] cudaError_t hold(const TestStream& stream) const {
    return cudaStreamWaitEvent(stream.handle, handle, 0);
  }

  cudaEvent_t handle = nullptr;
};

/// Device memory.
struct TestMemory {
  explicit TestMemory(std::size_t bytes) { REQUIRE(cudaMalloc(&data, bytes) == cudaSuccess); }
  ~TestMemory() { static_cast<void>(cudaFree(data)); }
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;

  void* data = nullptr;
};

/// What was done, in order.
class Log {
 public:
  /// Enqueues work on a stream that notes `word`.
  [[nodiscard]] cudaError_t put(const TestStream& stream, const std::string& word) {
    return enqueue(stream.handle, "note", [this, word] {
      text_ += text_.empty() ? word : " " + word;
      return true;
    });
  }
  /// Read when the device's thread has nothing more to note.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace standin::test

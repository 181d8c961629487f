// GPU streams that the tests of the stand-in NCCL advance by hand, instead of the stand-in runtime:
// what is not done after move_on() never will be.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stream.h"

namespace standin::played {

struct Node {
  Work work;
  Launched launched;
};
using Graph = std::vector<Node>;

struct Stream {
  int device = 0;
  std::deque<Work> works = {};
  std::shared_ptr<Graph> recording = nullptr;  // of the capture in progress

  [[nodiscard]] cudaStream_t handle() { return reinterpret_cast<cudaStream_t>(this); }
};

/// The machine behind the functions of stream.h, faults.h and CUDA.
class Machine {
 public:
  static Machine& get();
  /// Back to the initial state.
  void reset();

  [[nodiscard]] Stream& make_stream(int device);
  void begin_capture(Stream& stream);
  [[nodiscard]] std::shared_ptr<Graph> end_capture(Stream& stream);
  void launch(const Graph& graph, Stream& stream);
  /// Memory of any GPU.
  void add_memory(const void* memory, std::size_t bytes);
  /// Runs all streams in turn until none can advance. Whether nothing is left to do.
  bool move_on();

  std::recursive_mutex mutex;
  std::deque<Stream> streams;
  std::map<const void*, std::size_t> memory;
  std::map<int, cudaError_t> broken;
  cudaError_t refusal = cudaSuccess;               // of every launch
  std::map<std::string, std::string> wished = {};  // failures by call
};

/// The GPU of this thread.
[[nodiscard]] int& current_device();

}  // namespace standin::played

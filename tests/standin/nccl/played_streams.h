// Streams of GPUs that the tests of the stand-in NCCL move on by hand, in place of the stand-in
// runtime: what is not done after move_on() never will be.
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
  std::shared_ptr<Graph> recording = nullptr;  // it is being captured into

  [[nodiscard]] cudaStream_t handle() { return reinterpret_cast<cudaStream_t>(this); }
};

/// The machine that the functions of stream.h, of faults.h and of CUDA act on.
class Machine {
 public:
  static Machine& get();
  /// As at first.
  void reset();

  [[nodiscard]] Stream& make_stream(int device);
  void begin_capture(Stream& stream);
  [[nodiscard]] std::shared_ptr<Graph> end_capture(Stream& stream);
  void launch(const Graph& graph, Stream& stream);
  /// Memory of a GPU, of any.
  void add_memory(const void* memory, std::size_t bytes);
  /// All streams in turn, until none goes on any more. Whether nothing is left to do.
  bool move_on();

  std::recursive_mutex mutex;
  std::deque<Stream> streams;
  std::map<const void*, std::size_t> memory;
  std::map<int, cudaError_t> broken;
  cudaError_t refusal = cudaSuccess;               // of every launch
  std::map<std::string, std::string> wished = {};  // failures by their calls
};

/// The GPU of this thread.
[[nodiscard]] int& current_device();

}  // namespace standin::played

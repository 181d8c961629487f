// A captured step: what was once launched on a queue, replayed by one launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

#include "base/handle.h"
#include "device/cuda/cuda_device.h"
#include "device/device.h"

namespace trainyard::cuda {

struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const;
};

/// The work that a function enqueues, as a CUDA graph. Addresses, sizes and scalars are fixed at
/// capture; values that change are in device memory.
class CapturedGraph {
 public:
  /// Calls `work` while capturing `queue` (and what joins it by events), without running anything.
  /// Only this thread's calls are watched, so that other threads may use CUDA meanwhile. What
  /// cannot be captured (allocation, waiting, a copy from memory that is not pinned) throws
  /// Error{device}; if `work` throws, its error is passed on. Either way the queue remains usable.
  CapturedGraph(Queue& queue, Overlap overlap, const std::function<void()>& work);
  /// As Device::record_copies().
  CapturedGraph(Queue& queue, Overlap overlap, const std::function<void()>& work, int copies,
                const NodeRange& range);

  /// Enqueues one replay on `queue`.
  void replay(Queue& queue) const;
  /// Kernels, copies and fills of one replay.
  [[nodiscard]] std::size_t nodes() const { return nodes_; }

 private:
  void instantiate(cudaGraph_t captured, Overlap overlap);

  Handle<cudaGraphExec_t, DestroyGraph> graph_;
  std::size_t nodes_ = 0;
};

}  // namespace trainyard::cuda

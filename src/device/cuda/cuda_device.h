// An NVIDIA GPU as a Device: memory, streams, events and recordings of one GPU; and the survey of
// the machine's GPUs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/handle.h"
#include "device/device.h"
#include "device/gpu_survey.h"

namespace trainyard::cuda {

struct DestroyStream {
  void operator()(cudaStream_t stream) const;
};
struct DestroyEvent {
  void operator()(cudaEvent_t event) const;
};

/// A stream. Copies and fills return at once; copies to and from memory that is not pinned wait for
/// the host's side only.
class CudaQueue final : public Queue {
 public:
  enum class Priority { low, usual, high };

  /// On the device `ordinal`; not ordered with any other stream. The blocks of a queue
  /// of higher priority are placed before those of others that wait for a processor.
  explicit CudaQueue(int ordinal, Priority priority = Priority::usual);

  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] int ordinal() const { return ordinal_; }

  void copy(void* to, const void* from, std::size_t bytes) override;
  void copy_from_host(void* to, const void* from, std::size_t bytes) override;
  void copy_to_host(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  void wait() override;

 private:
  int ordinal_;
  Handle<cudaStream_t, DestroyStream> stream_;
};

/// Whether kernels of a recording that wait for those before them (launcher/predecessors.cuh) may
/// begin while these end. Results do not depend on it.
enum class Overlap { none, allowed };

/// The GPU `ordinal` in CUDA's numbering of visible GPUs: "cuda:0". Its allocations throw
/// Error{memory} with the free memory. Throws Error{device}.
[[nodiscard]] std::unique_ptr<Device> make_cuda_device(int ordinal,
                                                       Overlap overlap = Overlap::allowed);
/// The stream of a queue made by a CUDA device.
[[nodiscard]] cudaStream_t stream_of(const Queue& queue);

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

/// Driver, runtime and visible GPUs. A machine without driver or GPU is a finding, not an error.
[[nodiscard]] GpuSurvey survey();
/// The PCI bus id of the visible GPU `ordinal`, "0000:17:00.0", its name in NVML. Creates no
/// context. Throws Error{device}.
[[nodiscard]] std::string bus_of(int ordinal);

}  // namespace trainyard::cuda

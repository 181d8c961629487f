// An NVIDIA GPU as a Device: memory, streams and events of one GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "base/handle.h"
#include "device/device.h"

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

}  // namespace trainyard::cuda

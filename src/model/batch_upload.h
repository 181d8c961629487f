// Uploads of batches to a device that works asynchronously.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "device/device.h"

namespace trainyard {

/// A copy of host memory to a device; nothing is copied if there are no bytes.
struct Upload {
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};

/// Copies a batch into pinned host memory, over a queue of its own into one of two buffers on the
/// device, and from there, in the order of the model's queue, to where it is read. So the upload of
/// a batch overlaps the work on the previous one, and the host waits for neither.
class BatchUpload {
 public:
  /// A batch takes at most `bytes`, the sum of aligned_bytes() of its parts. Queues and device must
  /// outlive it. Throws Error{memory}.
  BatchUpload(Device& device, Queue& queue, Queue& copies, std::size_t bytes);
  /// The parts' host memory may change once this returns. Waits until the batch before the last one
  /// has been uploaded.
  void put(std::span<const Upload> parts);

 private:
  /// A batch in host memory and on the device.
  struct StagingBuffer {
    std::unique_ptr<DeviceBuffer> host, device;
    std::unique_ptr<Event> crossed;  // host may be written again
    std::unique_ptr<Event> taken;    // device may be written again
  };

  Queue& queue_;
  Queue& copies_;
  std::array<StagingBuffer, 2> buffers_;
  std::size_t next_ = 0;
};

}  // namespace trainyard

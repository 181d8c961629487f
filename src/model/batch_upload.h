// Uploads of batches to a device that works asynchronously.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "device/device.h"

namespace trainyard {

/// A piece of a batch in host memory, and where it goes in the batch's place.
struct Upload {
  const void* from = nullptr;
  std::size_t bytes = 0;
  std::size_t offset = 0;
};

/// Copies a batch into pinned host memory, and by one copy over a queue of its own into one of
/// kPlaces places on the device, each in its turn, where the model's queue reads it. So uploads
/// overlap the work on earlier batches, and the host waits for neither.
class BatchUpload {
 public:
  static constexpr std::size_t kPlaces = 4;

  /// A batch takes at most `bytes`. Queues and device must outlive it. Throws Error{memory}.
  BatchUpload(Device& device, Queue& queue, Queue& copies, std::size_t bytes);
  /// Work that is enqueued on the model's queue from now on finds the batch at place(); what has
  /// been enqueued before is the last to read the batch before it. Host memory may change once this
  /// returns. Waits until the batch kPlaces before has been uploaded.
  void put(std::span<const Upload> parts);
  /// Of the last batch.
  [[nodiscard]] std::size_t place() const { return place_; }
  [[nodiscard]] std::byte* at(std::size_t place) const {
    return static_cast<std::byte*>(places_[place].device->data());
  }

 private:
  /// A batch in host memory and on the device.
  struct Place {
    std::unique_ptr<DeviceBuffer> host, device;
    std::unique_ptr<Event> crossed;  // host may be written again
    std::unique_ptr<Event> read;     // device may be written again
  };

  Queue& queue_;
  Queue& copies_;
  std::array<Place, kPlaces> places_;
  std::size_t place_ = kPlaces - 1;
};

}  // namespace trainyard

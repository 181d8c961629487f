// Where a batch is on the device, and its upload.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "device/device.h"
#include "model/compute.h"

namespace trainyard {

/// A piece of a batch in host memory, and where it goes in the batch's slot.
struct Upload {
  const void* from = nullptr;
  std::size_t bytes = 0;
  std::size_t offset = 0;
};

/// Copies a batch into pinned host memory, and by one copy over a queue of its own into one of
/// kSlots staging slots on the device, each in its turn, where the model's queue reads it. So
/// uploads overlap the work on earlier batches, and the host waits for neither.
class BatchUpload {
 public:
  static constexpr std::size_t kSlots = 4;

  /// A batch takes at most `bytes`. Queues and device must outlive it. Throws Error{memory}.
  BatchUpload(Device& device, Queue& queue, Queue& copies, std::size_t bytes);
  /// Work that is enqueued on the model's queue from now on finds the batch at slot(); what has
  /// been enqueued before is the last to read the batch before it. Host memory may change once this
  /// returns. Waits until the batch kSlots before has been uploaded.
  void put(std::span<const Upload> parts);
  /// Slot of the last batch.
  [[nodiscard]] std::size_t slot() const { return slot_; }
  [[nodiscard]] std::byte* at(std::size_t slot) const {
    return static_cast<std::byte*>(slots_[slot].device->data());
  }

 private:
  /// A batch in host memory and on the device.
  struct Slot {
    std::unique_ptr<DeviceBuffer> host, device;
    std::unique_ptr<Event> crossed;  // host may be written again
    std::unique_ptr<Event> read;     // device may be written again
  };

  Queue& queue_;
  Queue& copies_;
  std::array<Slot, kSlots> slots_;
  std::size_t slot_ = kSlots - 1;
};

/// A part of every batch.
struct BatchPart {
  std::byte* home = nullptr;  // the device's own memory for it
  std::size_t bytes = 0;      // at most
  bool in_place = false;      // what reads it asks data() for its address; others read it at home
};

/// The parts of the loaded batch. On a device that works asynchronously a batch is uploaded to one
/// of several slots, all of it by one copy. Parts with in_place are read there; take() copies the
/// others home, by one copy too, and words() is that copy. Addresses within slots are fixed in
/// recorded work, which is therefore recorded once for each slot.
class BatchMemory {
 public:
  /// The places of parts that are not in_place must be close together, as those of ModelMemory's
  /// inputs and sample indices are: everything from the first to the last is copied. Throws
  /// Error{memory}.
  BatchMemory(const Compute& compute, std::vector<BatchPart> parts);

  /// Loads a batch: host memory of each part, which may change once this returns.
  void put(std::span<const std::span<const std::byte>> parts);
  /// Enqueues bringing home the loaded batch.
  void take() const;
  /// The same as a part of a launch; nothing if the batch is there.
  [[nodiscard]] CopyWords words() const;
  [[nodiscard]] std::size_t slots() const { return upload_ ? BatchUpload::kSlots : 1; }
  /// Slot of the loaded batch.
  [[nodiscard]] std::size_t slot() const { return upload_ ? upload_->slot() : 0; }
  /// Where a part arrives, and with in_place is read.
  [[nodiscard]] std::byte* data(std::size_t part, std::size_t slot) const;

 private:
  Compute compute_;
  std::vector<BatchPart> parts_;
  std::vector<Upload> uploads_;          // for each part, its offset in a slot, and what is loaded
  std::byte* home_ = nullptr;            // address of the first part that is copied there
  std::size_t home_bytes_ = 0;           // from there to the end of the last
  std::unique_ptr<BatchUpload> upload_;  // null: the queue works synchronously
};

}  // namespace trainyard

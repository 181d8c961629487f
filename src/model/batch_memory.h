// Where a batch is on the device.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "model/batch_upload.h"
#include "model/compute.h"

namespace trainyard {

/// A part of every batch.
struct BatchPart {
  std::byte* home = nullptr;  // the device's own memory for it
  std::size_t bytes = 0;      // at most
  bool in_place = false;      // what reads it asks data() for its address; others read it at home
};

/// The parts of the loaded batch. On a device that works asynchronously a batch is uploaded to one
/// of several places, all of it by one copy. Parts with in_place are read there; take() copies the
/// others home, by one copy too, and words() is that copy. Addresses within places are fixed in
/// recorded work, which is therefore recorded once for each place.
class BatchMemory {
 public:
  /// The homes of parts that are not in_place must be close together, as those of ModelMemory's
  /// inputs and sample indices are: everything from the first to the last is copied. Throws
  /// Error{memory}.
  BatchMemory(const Compute& compute, std::vector<BatchPart> parts);

  /// Loads a batch: host memory of each part, which may change once this returns.
  void put(std::span<const std::span<const std::byte>> parts);
  /// Enqueues bringing home the loaded batch.
  void take() const;
  /// The same as a part of a launch; nothing if the batch is there.
  [[nodiscard]] CopyWords words() const;
  [[nodiscard]] std::size_t places() const { return upload_ ? BatchUpload::kPlaces : 1; }
  /// Of the loaded batch.
  [[nodiscard]] std::size_t place() const { return upload_ ? upload_->place() : 0; }
  /// Where a part arrives, and with in_place is read.
  [[nodiscard]] std::byte* data(std::size_t part, std::size_t place) const;

 private:
  Compute compute_;
  std::vector<BatchPart> parts_;
  std::vector<Upload> uploads_;          // by part: its offset in a place, and what is loaded
  std::byte* home_ = nullptr;            // of the first part that is copied there
  std::size_t home_bytes_ = 0;           // from there to the end of the last
  std::unique_ptr<BatchUpload> upload_;  // null: the queue works synchronously
};

}  // namespace trainyard

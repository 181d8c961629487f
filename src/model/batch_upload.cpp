#include "model/batch_upload.h"

#include <cstring>

#include "base/error.h"
#include "base/offset_allocator.h"

namespace trainyard {

BatchUpload::BatchUpload(Device& device, Queue& queue, Queue& copies, std::size_t bytes)
    : queue_(queue), copies_(copies) {
  for (Place& place : places_) {
    place = {.host = device.allocate_host(bytes),
             .device = device.allocate(bytes),
             .crossed = device.make_event(),
             .taken = device.make_event()};
  }
}

void BatchUpload::put(std::span<const Upload> parts) {
  Place& place = places_[next_];
  next_ = 1 - next_;
  auto* const host = static_cast<std::byte*>(place.host->data());
  auto* const device = static_cast<std::byte*>(place.device->data());
  place.crossed->wait();
  OffsetAllocator written, read;
  for (const Upload& part : parts) {
    const std::size_t offset = written.take(part.bytes);
    TY_CHECK(written.used() <= place.host->bytes(), "a batch fits its upload");
    if (part.bytes > 0) std::memcpy(host + offset, part.from, part.bytes);
  }
  place.taken->wait_on(copies_);
  copies_.copy_from_host(device, host, written.used());
  place.crossed->record(copies_);
  place.crossed->wait_on(queue_);
  for (const Upload& part : parts) {
    const std::size_t offset = read.take(part.bytes);
    if (part.bytes > 0) queue_.copy(part.to, device + offset, part.bytes);
  }
  place.taken->record(queue_);
}

}  // namespace trainyard

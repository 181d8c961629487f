#include "model/batch_upload.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace trainyard {

BatchUpload::BatchUpload(Device& device, Queue& queue, Queue& copies, std::size_t bytes)
    : queue_(queue), copies_(copies) {
  for (Place& place : places_) {
    place = {.host = device.allocate_host(bytes),
             .device = device.allocate(bytes),
             .crossed = device.make_event(),
             .read = device.make_event()};
  }
}

void BatchUpload::put(std::span<const Upload> parts) {
  places_[place_].read->record(queue_);
  place_ = (place_ + 1) % kPlaces;
  Place& place = places_[place_];
  auto* const host = static_cast<std::byte*>(place.host->data());
  place.crossed->wait();
  std::size_t end = 0;
  for (const Upload& part : parts) {
    if (part.bytes == 0) continue;
    end = std::max(end, part.offset + part.bytes);
    TY_CHECK(end <= place.host->bytes(), "a batch fits its place");
    std::memcpy(host + part.offset, part.from, part.bytes);
  }
  place.read->wait_on(copies_);
  copies_.copy_from_host(place.device->data(), host, end);
  place.crossed->record(copies_);
  place.crossed->wait_on(queue_);
}

}  // namespace trainyard

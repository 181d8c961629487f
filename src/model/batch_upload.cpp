#include "model/batch_upload.h"

#include <cstring>

#include "base/error.h"
#include "base/offset_allocator.h"

namespace trainyard {

BatchUpload::BatchUpload(Device& device, Queue& queue, Queue& copies, std::size_t bytes)
    : queue_(queue), copies_(copies) {
  for (StagingBuffer& buffer : buffers_) {
    buffer = {.host = device.allocate_host(bytes),
              .device = device.allocate(bytes),
              .crossed = device.make_event(),
              .taken = device.make_event()};
  }
}

void BatchUpload::put(std::span<const Upload> parts) {
  StagingBuffer& buffer = buffers_[next_];
  next_ = 1 - next_;
  auto* const host = static_cast<std::byte*>(buffer.host->data());
  auto* const device = static_cast<std::byte*>(buffer.device->data());
  buffer.crossed->wait();
  OffsetAllocator written, read;
  for (const Upload& part : parts) {
    const std::size_t offset = written.take(part.bytes);
    TY_CHECK(written.used() <= buffer.host->bytes(), "a batch fits its upload");
    if (part.bytes > 0) std::memcpy(host + offset, part.from, part.bytes);
  }
  buffer.taken->wait_on(copies_);
  copies_.copy_from_host(device, host, written.used());
  buffer.crossed->record(copies_);
  buffer.crossed->wait_on(queue_);
  for (const Upload& part : parts) {
    const std::size_t offset = read.take(part.bytes);
    if (part.bytes > 0) queue_.copy(part.to, device + offset, part.bytes);
  }
  buffer.taken->record(queue_);
}

}  // namespace trainyard

#include "model/batch_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/offset_allocator.h"

namespace trainyard {

BatchUpload::BatchUpload(Device& device, Queue& queue, Queue& copies, std::size_t bytes)
    : queue_(queue), copies_(copies) {
  for (Slot& slot : slots_) {
    slot = {.host = device.allocate_host(bytes),
            .device = device.allocate(bytes),
            .crossed = device.make_event(),
            .read = device.make_event()};
  }
}

void BatchUpload::put(std::span<const Upload> parts) {
  slots_[slot_].read->record(queue_);
  slot_ = (slot_ + 1) % kSlots;
  Slot& slot = slots_[slot_];
  auto* const host = static_cast<std::byte*>(slot.host->data());
  slot.crossed->wait();
  std::size_t end = 0;
  for (const Upload& part : parts) {
    if (part.bytes == 0) continue;
    end = std::max(end, part.offset + part.bytes);
    TY_CHECK(end <= slot.host->bytes(), "a batch fits its slot");
    std::memcpy(host + part.offset, part.from, part.bytes);
  }
  slot.read->wait_on(copies_);
  copies_.copy_from_host(slot.device->data(), host, end);
  slot.crossed->record(copies_);
  slot.crossed->wait_on(queue_);
}

BatchMemory::BatchMemory(const Compute& compute, std::vector<BatchPart> parts)
    : compute_(compute), parts_(std::move(parts)), uploads_(parts_.size()) {
  std::byte* end = nullptr;
  for (const BatchPart& part : parts_) {
    if (part.in_place) continue;
    home_ = home_ == nullptr ? part.home : std::min(home_, part.home);
    end = std::max(end, part.home + part.bytes);
  }
  home_bytes_ = static_cast<std::size_t>(end - home_);
  OffsetAllocator offsets;
  offsets.take(home_bytes_);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    uploads_[i].offset = parts_[i].in_place ? offsets.take(parts_[i].bytes)
                                            : static_cast<std::size_t>(parts_[i].home - home_);
  }
  if (compute.copies == nullptr) return;
  upload_ =
      std::make_unique<BatchUpload>(compute.device, compute.queue, *compute.copies, offsets.used());
}

void BatchMemory::put(std::span<const std::span<const std::byte>> parts) {
  TY_CHECK(parts.size() == parts_.size(), "a batch has the parts of the model's memory");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TY_CHECK(parts[i].size() <= parts_[i].bytes, "a part of a batch fits its memory");
    uploads_[i].from = parts[i].data();
    uploads_[i].bytes = parts[i].size();
    if (upload_ || parts[i].empty()) continue;
    compute_.queue.copy_from_host(parts_[i].home, parts[i].data(), parts[i].size());
  }
  if (upload_) upload_->put(uploads_);
}

void BatchMemory::take() const {
  if (upload_ && compute_.batches != nullptr) return compute_.batches->copy(words());
  if (upload_) compute_.queue.copy(home_, upload_->at(upload_->slot()), home_bytes_);
}

CopyWords BatchMemory::words() const {
  if (!upload_) return {};
  constexpr std::size_t kWord = sizeof(std::uint64_t);  // a last one may reach into the slot's rest
  return {.from = reinterpret_cast<const std::uint64_t*>(upload_->at(upload_->slot())),
          .to = reinterpret_cast<std::uint64_t*>(home_),
          .count = static_cast<std::int64_t>((home_bytes_ + kWord - 1) / kWord)};
}

std::byte* BatchMemory::data(std::size_t part, std::size_t slot) const {
  return upload_ ? upload_->at(slot) + uploads_[part].offset : parts_[part].home;
}

}  // namespace trainyard

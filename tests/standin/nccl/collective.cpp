#include "collective.h"

#include <algorithm>
#include <cstring>

#include "order.h"

namespace standin::nccl {

Collective::Collective(Share& share, const Call& call, const void* from, void* to)
    : share_(share),
      call_(call),
      from_(static_cast<const std::byte*>(from)),
      to_(static_cast<std::byte*>(to)),
      size_(bytes_of(static_cast<ncclDataType_t>(call.type))) {}

std::vector<Region> Collective::regions() const {
  const std::size_t bytes = call_.count * size_;
  const std::size_t ranks = call_.kind == Kind::all_gather ? share_.ranks : 1;
  std::vector<Region> list = {{to_, bytes * ranks}};
  if (shows()) list.push_back({from_, bytes});
  return list;
}

bool Collective::shows() const {
  return call_.kind != Kind::broadcast || call_.root == share_.rank;
}

bool Collective::advance() {
  while (done_ < call_.count) {
    if (now_ == 0) show();
    if (!all_show_alike()) return false;
    take();
    ++share_.pieces;
    done_ += now_;
    now_ = 0;
  }
  done_ = 0;
  return true;
}

void Collective::show() {
  const std::uint64_t piece = share_.pieces;
  RankSlot& own = share_.own_slot();
  now_ = std::min<std::uint64_t>(kSlotBytes / size_, call_.count - done_);
  own.calls[piece % 2] = call_;
  if (shows()) std::memcpy(own.slots[piece % 2], from_ + done_ * size_, now_ * size_);
  own.posted.store(piece + 1, std::memory_order_release);
}

bool Collective::all_show_alike() {
  for (int rank = 0; rank < share_.ranks; ++rank) {
    const RankSlot& slot = share_.meeting->slot(rank);
    if (slot.posted.load(std::memory_order_acquire) <= share_.pieces) return false;
    if (slot.calls[share_.pieces % 2] != call_) return false;
  }
  return true;
}

const std::byte* Collective::slot_of(int rank) {
  return share_.meeting->slot(rank).slots[share_.pieces % 2];
}

void Collective::take() {
  if (call_.kind == Kind::broadcast) {
    std::memcpy(to_ + done_ * size_, slot_of(call_.root), now_ * size_);
    return;
  }
  std::vector<const std::byte*> slots;
  for (int rank = 0; rank < share_.ranks; ++rank) slots.push_back(slot_of(rank));
  if (call_.kind == Kind::all_reduce) {
    sum_in_ring(static_cast<ncclDataType_t>(call_.type), slots,
                {.first = done_, .elements = now_, .count = call_.count}, to_ + done_ * size_);
    return;
  }
  for (std::size_t rank = 0; rank < slots.size(); ++rank) {
    std::memcpy(to_ + (rank * call_.count + done_) * size_, slots[rank], now_ * size_);
  }
}

std::vector<Region> Collectives::regions() const {
  std::vector<Region> list;
  for (const auto& one : all_) {
    const std::vector<Region> own = one->regions();
    list.insert(list.end(), own.begin(), own.end());
  }
  return list;
}

bool Collectives::advance() {
  while (next_ < all_.size()) {
    if (!all_[next_]->advance()) return false;
    ++next_;
  }
  next_ = 0;
  return true;
}

}  // namespace standin::nccl

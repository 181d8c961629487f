#include <algorithm>
#include <cstring>

#include "collective.h"

namespace standin::nccl {
namespace {

/// Bytes of letter `index` of a message.
std::uint64_t length_of(std::uint64_t index, std::uint64_t bytes) {
  return std::min<std::uint64_t>(kLetterBytes, bytes - index * kLetterBytes);
}

}  // namespace

Exchange::Exchange(Share& share, bool captured, std::vector<Message> messages)
    : captured_(captured ? 1 : 0) {
  for (const Message& message : messages) {
    Mailbox& box = message.sent ? share.own_slot().to[message.peer]
                                : share.meeting->slot(message.peer).to[share.rank];
    // An empty message is one empty letter: both ends take part in it.
    const std::uint64_t letters =
        std::max<std::uint64_t>(1, (message.bytes + kLetterBytes - 1) / kLetterBytes);
    ways_.push_back({.message = message, .box = &box, .letters = letters});
  }
}

std::vector<Region> Exchange::regions() const {
  std::vector<Region> list;
  for (const Way& way : ways_) list.push_back({way.message.memory, way.message.bytes});
  return list;
}

bool Exchange::advance() {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      if (!ways_[i].done() && !waits_for_another(i)) moved |= move(ways_[i]);
    }
  }
  if (!std::ranges::all_of(ways_, [](const Way& way) { return way.done(); })) return false;
  for (Way& way : ways_) way.posted = way.taken = 0;
  return true;
}

/// Messages between the same two ranks in the same direction are matched in order.
bool Exchange::waits_for_another(std::size_t index) const {
  return std::any_of(ways_.begin(), ways_.begin() + static_cast<std::ptrdiff_t>(index),
                     [&](const Way& way) {
                       return !way.done() && way.box == ways_[index].box &&
                              way.message.sent == ways_[index].message.sent;
                     });
}

bool Exchange::move(Way& way) const { return way.message.sent ? post(way) : take(way); }

bool Exchange::post(Way& way) const {
  Mailbox& box = *way.box;
  const std::uint64_t letters = box.posted.load(std::memory_order_relaxed);
  if (box.taken.load(std::memory_order_acquire) != letters) return false;
  way.taken = way.posted;
  if (way.posted == way.letters) return true;
  box.bytes = way.message.bytes;
  box.captured = captured_;
  const std::uint64_t length = length_of(way.posted, way.message.bytes);
  if (length > 0) {
    std::memcpy(box.letter, way.message.memory + way.posted * kLetterBytes, length);
  }
  ++way.posted;
  box.posted.store(letters + 1, std::memory_order_release);
  return true;
}

bool Exchange::take(Way& way) const {
  Mailbox& box = *way.box;
  const std::uint64_t letters = box.taken.load(std::memory_order_relaxed);
  if (box.posted.load(std::memory_order_acquire) == letters) return false;
  if (box.bytes != way.message.bytes || box.captured != captured_) return false;
  const std::uint64_t length = length_of(way.taken, way.message.bytes);
  if (length > 0) {
    std::memcpy(way.message.memory + way.taken * kLetterBytes, box.letter, length);
  }
  ++way.taken;
  box.taken.store(letters + 1, std::memory_order_release);
  return true;
}

}  // namespace standin::nccl

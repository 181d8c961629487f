#include "guarded_buffer.h"

#include <algorithm>
#include <cstdint>

namespace trainyard::op_tests {
namespace {

constexpr std::size_t kGuard = 256;
constexpr std::byte kGuardByte{0xA5};
constexpr std::byte kSpoiled{0xFF};

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes)
    : bytes_(bytes), memory_(bytes + 3 * kGuard, kGuardByte) {
  spoil();
}

std::byte* GuardedBuffer::first() const {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  const std::uintptr_t aligned = (address + kGuard + kGuard - 1) / kGuard * kGuard;
  return const_cast<std::byte*>(memory_.data()) + (aligned - address);
}

void GuardedBuffer::spoil() { std::fill_n(first(), bytes_, kSpoiled); }

bool GuardedBuffer::guards_hold() const {
  const auto good = [](std::byte b) { return b == kGuardByte; };
  const std::byte* begin = memory_.data();
  return std::all_of(begin, static_cast<const std::byte*>(first()), good) &&
         std::all_of(static_cast<const std::byte*>(first()) + bytes_, begin + memory_.size(), good);
}

std::vector<std::byte> GuardedBuffer::snapshot() const { return {first(), first() + bytes_}; }

}  // namespace trainyard::op_tests

#include "guarded_buffer.h"

#include <cstdint>
#include <cstring>

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

void GuardedBuffer::fill(std::byte value) {
  std::memset(first(), std::to_integer<int>(value), bytes_);
}

void GuardedBuffer::spoil() { fill(kSpoiled); }

bool GuardedBuffer::guards_hold() const {
  static const std::vector<std::byte> kGuards(2 * kGuard, kGuardByte);
  const std::byte* const begin = memory_.data();
  const std::byte* const end = begin + memory_.size();
  const auto good = [](const std::byte* from, const std::byte* to) {
    return std::memcmp(from, kGuards.data(), static_cast<std::size_t>(to - from)) == 0;
  };
  return good(begin, first()) && good(first() + bytes_, end);
}

Bytes GuardedBuffer::snapshot() const {
  const auto* const begin = reinterpret_cast<const unsigned char*>(first());
  return {begin, begin + bytes_};
}

}  // namespace trainyard::op_tests

// Rounding to multiples, and offsets of consecutive slots in a block of memory.
#pragma once

#include <cstddef>

namespace trainyard {

/// The least multiple of `multiple` that is at least `value`. Both are positive, or `value` is 0.
template <class Integer>
[[nodiscard]] constexpr Integer round_up(Integer value, Integer multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The alignment of slots that suits GPUs and vectors.
inline constexpr std::size_t kSlotAlignment = 256;

/// `bytes` rounded up to a multiple of kSlotAlignment: what a slot takes of its block.
[[nodiscard]] constexpr std::size_t aligned_bytes(std::size_t bytes) {
  return round_up(bytes, kSlotAlignment);
}

/// Assigns offsets, all multiples of `alignment`.
class OffsetAllocator {
 public:
  explicit constexpr OffsetAllocator(std::size_t alignment = kSlotAlignment)
      : alignment_(alignment) {}

  /// Offset of a new slot of `bytes`.
  std::size_t take(std::size_t bytes) {
    const std::size_t offset = used_;
    used_ += round_up(bytes, alignment_);
    return offset;
  }
  /// The bytes of all slots: what the block needs.
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::size_t alignment_;
  std::size_t used_ = 0;
};

/// The address `offset` bytes after `base`.
[[nodiscard]] inline void* address_at(void* base, std::size_t offset) {
  return static_cast<std::byte*>(base) + offset;
}

}  // namespace trainyard

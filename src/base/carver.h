// Consecutive slots in a block of memory.
#pragma once

#include <cstddef>

namespace trainyard {

/// `bytes` rounded up to a multiple of 256, so that the next slot has the alignment that suits GPUs
/// and vectors.
[[nodiscard]] constexpr std::size_t aligned_bytes(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// Assigns slots.
class Carver {
 public:
  /// Offset of a new slot of `bytes`, a multiple of 256.
  std::size_t take(std::size_t bytes) {
    const std::size_t offset = used_;
    used_ += aligned_bytes(bytes);
    return offset;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::size_t used_ = 0;
};

/// The address `offset` bytes after `base`.
[[nodiscard]] inline void* place_at(void* base, std::size_t offset) {
  return static_cast<std::byte*>(base) + offset;
}

}  // namespace trainyard

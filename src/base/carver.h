// Places one behind another in a piece of memory.
#pragma once

#include <cstddef>

namespace trainyard {

/// Bytes that a place of `bytes` takes up, so that the next begins at a multiple of 256, as GPUs
/// and vectors like it.
[[nodiscard]] constexpr std::size_t aligned_bytes(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// Hands out places.
class Carver {
 public:
  /// Offset of `bytes` fresh bytes, a multiple of 256.
  std::size_t take(std::size_t bytes) {
    const std::size_t offset = used_;
    used_ += aligned_bytes(bytes);
    return offset;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::size_t used_ = 0;
};

/// The address `offset` bytes behind `base`.
[[nodiscard]] inline void* place_at(void* base, std::size_t offset) {
  return static_cast<std::byte*>(base) + offset;
}

}  // namespace trainyard

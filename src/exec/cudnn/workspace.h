// Places in the workspace of a step.
#pragma once

#include <cstddef>

namespace trainyard::cudnn {

/// Hands out places, each at a multiple of 256 bytes.
class Workspace {
 public:
  /// Offset of `bytes` fresh bytes.
  std::size_t take(std::size_t bytes) {
    const std::size_t offset = bytes_;
    bytes_ += (bytes + kLine - 1) / kLine * kLine;
    return offset;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kLine = 256;
  std::size_t bytes_ = 0;
};

/// The address `offset` bytes behind `base`.
inline void* at(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }

}  // namespace trainyard::cudnn

// Memory that detects writes outside it and reads before writes.
#pragma once

#include <cstddef>
#include <vector>

namespace trainyard::op_tests {

/// A copy of memory. Unlike vectors of std::byte, two are compared by memcmp.
using Bytes = std::vector<unsigned char>;

/// Bytes between two guards. Begins as all ones: NaN in every float type, -1 in integers.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t bytes);
  GuardedBuffer(GuardedBuffer&&) = default;
  GuardedBuffer& operator=(GuardedBuffer&&) = default;

  /// Aligned to 256 bytes; null for none.
  [[nodiscard]] std::byte* data() const { return bytes_ == 0 ? nullptr : first(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void fill(std::byte value);
  /// Fills it with ones again.
  void spoil();
  /// False if a guard byte has changed.
  [[nodiscard]] bool guards_hold() const;
  /// A copy of the bytes, to compare later.
  [[nodiscard]] Bytes snapshot() const;

 private:
  [[nodiscard]] std::byte* first() const;

  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

}  // namespace trainyard::op_tests

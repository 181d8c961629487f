// Logical shapes, in N, C, H, W order whatever the memory layout.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace trainyard {

/// Product of sizes >= 0, saturated at the largest integer on overflow: sizes from hostile network
/// files stay comparable, and excessive ones are rejected where the limit is known.
[[nodiscard]] std::int64_t size_product(std::initializer_list<std::int64_t> sizes);

/// Up to four extents. A tensor of features is [n, c], of images [n, c, h, w]; extents beyond the
/// rank read as 1, so that every tensor can be iterated as n, c, h, w.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);

  [[nodiscard]] int rank() const { return rank_; }
  /// Extent of `axis`, 1 beyond the rank.
  [[nodiscard]] std::int64_t operator[](int axis) const { return extents_[axis]; }
  [[nodiscard]] std::int64_t n() const { return extents_[0]; }
  [[nodiscard]] std::int64_t c() const { return extents_[1]; }
  [[nodiscard]] std::int64_t h() const { return extents_[2]; }
  [[nodiscard]] std::int64_t w() const { return extents_[3]; }
  /// Number of elements (size_product); 1 for rank 0.
  [[nodiscard]] std::int64_t elements() const;
  /// A copy with `extent` at `axis` (axis < rank).
  [[nodiscard]] Shape with(int axis, std::int64_t extent) const;
  /// "[64, 256, 28, 28]".
  [[nodiscard]] std::string text() const;
  bool operator==(const Shape&) const = default;

 private:
  int rank_ = 0;
  std::array<std::int64_t, kMaxRank> extents_{1, 1, 1, 1};
};

}  // namespace trainyard

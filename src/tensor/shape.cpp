#include "tensor/shape.h"

#include <limits>

#include "base/error.h"

namespace trainyard {

std::int64_t size_product(std::initializer_list<std::int64_t> sizes) {
  std::int64_t product = 1;
  bool overflow = false;
  for (const std::int64_t size : sizes) {
    if (size == 0) return 0;
    overflow = __builtin_mul_overflow(product, size, &product) || overflow;
  }
  return overflow ? std::numeric_limits<std::int64_t>::max() : product;
}

Shape::Shape(std::initializer_list<std::int64_t> extents) {
  TY_CHECK(extents.size() <= kMaxRank, "a shape has at most four extents");
  for (const std::int64_t extent : extents) extents_[rank_++] = extent;
}

std::int64_t Shape::elements() const {
  return size_product({extents_[0], extents_[1], extents_[2], extents_[3]});
}

Shape Shape::with(int axis, std::int64_t extent) const {
  TY_CHECK(axis < rank_, "axis beyond the rank");
  Shape changed = *this;
  changed.extents_[axis] = extent;
  return changed;
}

std::string Shape::text() const {
  std::string out = "[";
  for (int axis = 0; axis < rank_; ++axis) {
    if (axis > 0) out += ", ";
    out += std::to_string(extents_[axis]);
  }
  return out + "]";
}

}  // namespace trainyard

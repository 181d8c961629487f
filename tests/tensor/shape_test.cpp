#include "tensor/shape.h"

#include <doctest/doctest.h>

#include <limits>

namespace trainyard {
namespace {

TEST_CASE("a product of sizes saturates at the largest integer instead of overflowing") {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  CHECK(size_product({}) == 1);
  CHECK(size_product({3, 5, 7}) == 105);
  CHECK(size_product({kLargest, 1}) == kLargest);
  CHECK(size_product({std::int64_t{1} << 32, std::int64_t{1} << 32}) == kLargest);
  CHECK(size_product({kLargest, kLargest, kLargest}) == kLargest);
  CHECK(size_product({kLargest, kLargest, 0}) == 0);
}

TEST_CASE("the number of elements of a shape is the product of its extents, 1 for none") {
  CHECK(Shape{2, 3, 5, 7}.elements() == 210);
  CHECK(Shape{}.elements() == 1);
  CHECK(Shape{4, 0}.elements() == 0);
}

}  // namespace
}  // namespace trainyard

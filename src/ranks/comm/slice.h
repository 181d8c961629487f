// Which rank sums which elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace trainyard {

/// Elements of a sum, in bytes.
struct Slice {
  std::size_t begin = 0, bytes = 0;
};

/// The slice of `count` elements that rank `rank` of `ranks` sums; slices differ by at most one
/// element.
[[nodiscard]] constexpr Slice slice_of(std::int64_t count, DType type, int rank, int ranks) {
  const std::int64_t whole = count / ranks;
  const std::int64_t rest = count % ranks;
  const std::int64_t begin = whole * rank + std::min<std::int64_t>(rank, rest);
  const std::int64_t size = whole + (rank < rest ? 1 : 0);
  return {static_cast<std::size_t>(begin) * size_of(type),
          static_cast<std::size_t>(size) * size_of(type)};
}

}  // namespace trainyard

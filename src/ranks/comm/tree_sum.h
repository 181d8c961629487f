// The order in which values of several ranks are summed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace trainyard {

/// Sums over ranks in one canonical order: a binary tree over rank numbers,
/// ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)). If the number of ranks is not a power of two, it is
/// the tree of the next power with the missing leaves left out: (0 + 1) + 2. Sums of f16 and bf16
/// are computed in f32 and rounded once; those of i32 wrap around.
class TreeSum {
 public:
  /// out[i] = the sum of input[i] over `inputs`, one per rank, of `count` elements each. `out` may
  /// be one of them. Allocates nothing after the first call with this many inputs.
  void run(std::span<const void* const> inputs, void* out, std::int64_t count, DType type);

 private:
  template <class T>
  void run_as(std::span<const void* const> inputs, void* out, std::int64_t count);

  std::vector<std::byte> scratch_;  // [rank][block of elements]
};

// Which rank sums which elements.

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

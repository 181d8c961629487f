// The order in which values of several ranks are summed.
#pragma once

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

}  // namespace trainyard

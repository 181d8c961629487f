// The order in which values of several ranks are summed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/dtype.h"

namespace trainyard {

/// Sums over ranks in one canonical order: a binary tree over rank numbers,
/// ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)). Where the number of ranks is no power of two it is
/// the tree of the next one with the missing leaves left out: (0 + 1) + 2. Sums of f16 and bf16 are
/// taken in f32 and rounded once; those of i32 wrap around.
class TreeSum {
 public:
  /// out[i] = the sum of input[i] over `inputs`, one a rank, of `count` elements each. `out` may be
  /// one of them. Nothing is allocated after the first call with so many inputs.
  void run(std::span<const void* const> inputs, void* out, std::int64_t count, DType type);

 private:
  template <class T>
  void run_as(std::span<const void* const> inputs, void* out, std::int64_t count);

  std::vector<std::byte> scratch_;  // [rank][block of elements]
};

}  // namespace trainyard

// Products by the tensor cores of a GPU.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/half.h"

namespace trainyard {

/// sums += a * b, for a warp: a [16, 16], b [16, 8] of T (two of them in 32 bits), sums [16, 8].
/// With group = lane / 4 and pair = 2 * (lane % 4), a lane has
///   a[0], a[1]    rows group and group + 8, columns pair and pair + 1; a[2], a[3]: pair + 8, + 9
///   b[0], b[1]    column group, rows pair and pair + 1; pair + 8 and + 9
///   sums          row group, columns pair and pair + 1; row group + 8, the same
/// (PTX ISA, "Matrix Fragments for mma.m16n8k16"). All lanes call it together.
template <class T>
__device__ void multiply_add_16x8x16(float (&sums)[4], const std::uint32_t (&a)[4],
                                     const std::uint32_t (&b)[2]) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    static_assert(std::is_same_v<T, Float16>);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

}  // namespace trainyard

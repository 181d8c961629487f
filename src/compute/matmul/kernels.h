// The kernels of matrix products, as functions for each processor.
#pragma once

#include <cstdint>

namespace trainyard::product {

/// Products that are summed one after the other.
inline constexpr std::int64_t kChain = 128;

/// What follows the sums of a product: d = sum + bias, with relu max(d, 0), where NaN stays.
struct Ending {
  const float* bias = nullptr;  // [columns], or null
  bool relu = false;
};

/// Depths are in blocks of `lanes`, padded with zeros, and so are columns.
struct Kernels {
  int lanes = 0;
  int rows = 0;  // rows that are multiplied at a time, at most
  /// to[i * to_stride + j] = from[i * stride + j], or from[j * stride + i] if transposed, for
  /// `rows` i and `columns` j.
  void (*copy)(const float* from, std::int64_t stride, bool transposed, std::int64_t rows,
               std::int64_t columns, float* to, std::int64_t to_stride) = nullptr;
  /// d = a * b, or d += a * b, for one or two vectors of columns: a is [blocks][rows][lanes], or
  /// [blocks][lanes][rows] if transposed, b [blocks * lanes][vectors * lanes]. The order of a sum
  /// depends on the depth alone, and is that of every processor's kernel: chains of kChain
  /// products, which are added in turn.
  void (*multiply)(const float* a, bool transposed, std::int64_t blocks, std::int64_t rows,
                   const float* b, int vectors, float* d, std::int64_t stride, bool adds) = nullptr;
  /// What follows the sums, in place.
  void (*end)(float* d, std::int64_t stride, std::int64_t rows, std::int64_t columns,
              const Ending& ending) = nullptr;
};

/// Requires AVX2 and FMA.
extern const Kernels kAvx2Kernels;
/// Requires AVX-512 F, BW, CD, DQ, VL.
extern const Kernels kAvx512Kernels;

}  // namespace trainyard::product

// The kernels of kernels.h for vectors V. Included as multiply_rows.h is.
#pragma once

#include "compute/matmul/kernels.h"
#include "compute/matmul/multiply_rows.h"
#include "compute/matmul/vectors.h"

namespace trainyard::product {
namespace {

/// Rows that are fetched before they are copied: rows far apart are not fetched by the processor.
constexpr std::int64_t kAhead = 16;

/// to[i * to_stride + j] = from[j * stride + i], 8 by 8.
inline void transpose_eight(const float* from, std::int64_t stride, float* to,
                            std::int64_t to_stride) {
  __m256 pairs[8], fours[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m256 even = _mm256_loadu_ps(from + 2 * i * stride);
    const __m256 odd = _mm256_loadu_ps(from + (2 * i + 1) * stride);
    pairs[2 * i] = _mm256_unpacklo_ps(even, odd);
    pairs[2 * i + 1] = _mm256_unpackhi_ps(even, odd);
  }
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      const __m256 first = pairs[4 * half + k], second = pairs[4 * half + 2 + k];
      fours[4 * half + 2 * k] = _mm256_shuffle_ps(first, second, 0x44);
      fours[4 * half + 2 * k + 1] = _mm256_shuffle_ps(first, second, 0xEE);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_stride, _mm256_permute2f128_ps(fours[i], fours[4 + i], 0x20));
    _mm256_storeu_ps(to + (4 + i) * to_stride,
                     _mm256_permute2f128_ps(fours[i], fours[4 + i], 0x31));
  }
}

/// As Kernels::copy. The last eight rows or columns overlap those before them.
inline void copy_transposed(const float* from, std::int64_t stride, std::int64_t rows,
                            std::int64_t columns, float* to, std::int64_t to_stride) {
  constexpr std::int64_t kEight = 8;
  if (rows < kEight || columns < kEight) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) to[i * to_stride + j] = from[j * stride + i];
    }
    return;
  }
  for (std::int64_t j = 0; j < columns; j += kEight) {
    const std::int64_t column = j + kEight <= columns ? j : columns - kEight;
    for (std::int64_t x = 0; x < kEight; ++x) {
      __builtin_prefetch(from + (column + kAhead + x) * stride);
    }
    for (std::int64_t i = 0; i < rows; i += kEight) {
      const std::int64_t row = i + kEight <= rows ? i : rows - kEight;
      transpose_eight(from + column * stride + row, stride, to + row * to_stride + column,
                      to_stride);
    }
  }
}

template <class V>
void copy(const float* from, std::int64_t stride, bool transposed, std::int64_t rows,
          std::int64_t columns, float* to, std::int64_t to_stride) {
  if (transposed) return copy_transposed(from, stride, rows, columns, to, to_stride);
  const std::int64_t whole = columns / V::kLanes * V::kLanes;
  const int left = static_cast<int>(columns - whole);
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* const ahead = from + kAhead * stride;
    for (std::int64_t j = 0; j < columns; j += 16) __builtin_prefetch(ahead + j);
    for (std::int64_t j = 0; j < whole; j += V::kLanes) V::load(from + j).store(to + j);
    if (left > 0) V::load(from + whole, left).store(to + whole, left);
    from += stride;
    to += to_stride;
  }
}

template <class V, BlockOrder kOrder>
MultiplyGroup group_of(std::int64_t rows, int vectors) {
  static constexpr RowTable<V, 1, kChain, kOrder> kOne;
  static constexpr RowTable<V, 2, kChain, kOrder> kTwo;
  return vectors == 2 ? kTwo.of[rows] : kOne.of[rows];
}

template <class V>
void multiply(const float* a, bool transposed, std::int64_t blocks, std::int64_t rows,
              const float* b, int vectors, float* d, std::int64_t stride, bool adds) {
  const MultiplyGroup group = transposed ? group_of<V, BlockOrder::lanes_rows>(rows, vectors)
                                         : group_of<V, BlockOrder::rows_lanes>(rows, vectors);
  group(a, blocks, rows, b, {d, stride, V::kLanes}, adds);
}

template <class V>
void end(float* d, std::int64_t stride, std::int64_t rows, std::int64_t columns,
         const Ending& ending) {
  for (std::int64_t j = 0; j < columns; j += V::kLanes) {
    const std::int64_t left = columns - j;
    const int count = static_cast<int>(left < V::kLanes ? left : V::kLanes);
    const V bias = ending.bias == nullptr ? V::all(0) : V::load(ending.bias + j, count);
    for (std::int64_t i = 0; i < rows; ++i) {
      float* const at = d + i * stride + j;
      const V sum = V::load(at, count) + bias;
      (ending.relu ? relu(sum) : sum).store(at, count);
    }
  }
}

template <class V>
constexpr Kernels kernels_of() {
  return {.lanes = V::kLanes,
          .rows = kMostRows<V, 2>,
          .copy = &copy<V>,
          .multiply = &multiply<V>,
          .end = &end<V>};
}

}  // namespace
}  // namespace trainyard::product

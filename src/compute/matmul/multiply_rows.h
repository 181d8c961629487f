// Products of rows with a panel of columns, summed in registers. Included only by the files that
// are compiled for one kind of vector each. Its functions are theirs alone, and it includes nothing
// that has inline functions: compiled for that processor, these might be linked into the rest of
// the program.
#pragma once

#include <cstdint>

namespace trainyard::product {
namespace {

/// Rows whose products are summed in registers at a time, with N vectors of columns.
template <class V, int N>
constexpr int kMostRows = V::kLanes == 16 ? 14 : 12 / N;

/// Where sums are: of row r and vector n at data + r * row + n * vector.
struct Sums {
  float* data;
  std::int64_t row, vector;
};

/// How a block of the first factor is stored, which is `lanes` of the depth.
enum class BlockOrder { rows_lanes, lanes_rows };

/// d[r, n] = sum over the depth of a[r] * b[n], or this is added to it, for R rows and N vectors of
/// columns. a is blocks of `rows` rows, b [blocks, lanes, N, lanes]. Sums are chains of kChain
/// products, which are added in turn: the rounding errors of a chain grow with the root of its
/// length.
template <class V, int R, int N, std::int64_t kChain, BlockOrder kOrder>
void multiply_group(const float* a, std::int64_t blocks, std::int64_t rows, const float* b,
                    const Sums& d, bool adds) {
  constexpr int kLanes = V::kLanes;
  constexpr std::int64_t kBlocks = kChain / kLanes;
  constexpr bool kByRows = kOrder == BlockOrder::rows_lanes;
  for (std::int64_t first = 0; first < blocks; first += kBlocks) {
    V sums[R][N];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (int n = 0; n < N; ++n) sums[r][n] = V::all(0);
    }
    const std::int64_t left = blocks - first;
    for (std::int64_t block = 0; block < (left < kBlocks ? left : kBlocks); ++block) {
#pragma GCC unroll 2
      for (int lane = 0; lane < kLanes; ++lane) {
        V weights[N];
#pragma GCC unroll 16
        for (int n = 0; n < N; ++n) weights[n] = V::load(b + n * kLanes);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
          const V factor = V::all(kByRows ? a[r * kLanes + lane] : a[lane * R + r]);
#pragma GCC unroll 16
          for (int n = 0; n < N; ++n) sums[r][n] = fma(factor, weights[n], sums[r][n]);
        }
        b += N * kLanes;
      }
      a += rows * kLanes;
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
      for (int n = 0; n < N; ++n) {
        float* const to = d.data + r * d.row + n * d.vector;
        (first == 0 && !adds ? sums[r][n] : V::load(to) + sums[r][n]).store(to);
      }
    }
  }
}

using MultiplyGroup = void (*)(const float*, std::int64_t, std::int64_t, const float*, const Sums&,
                               bool);

/// multiply_group for 1 to kMostRows rows; entry 0 is unused.
template <class V, int N, std::int64_t kChain, BlockOrder kOrder>
struct RowTable {
  MultiplyGroup of[kMostRows<V, N> + 1] = {};
  constexpr RowTable() { fill<kMostRows<V, N>>(); }

 private:
  template <int R>
  constexpr void fill() {
    of[R] = &multiply_group<V, R, N, kChain, kOrder>;
    if constexpr (R > 1) fill<R - 1>();
  }
};

/// multiply_group for any number of rows, in groups of nearly equal size: a is [blocks, rows,
/// lanes], d [N, rows, lanes].
template <class V, int N, std::int64_t kChain>
void multiply_rows(const float* a, std::int64_t blocks, std::int64_t rows, const float* b,
                   float* d) {
  static constexpr RowTable<V, N, kChain, BlockOrder::rows_lanes> kTable;
  const std::int64_t groups = (rows + kMostRows<V, N> - 1) / kMostRows<V, N>;
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t begin = rows * group / groups;
    const std::int64_t end = rows * (group + 1) / groups;
    const Sums sums{d + begin * V::kLanes, V::kLanes, rows * V::kLanes};
    kTable.of[end - begin](a + begin * V::kLanes, blocks, rows, b, sums, false);
  }
}

}  // namespace
}  // namespace trainyard::product

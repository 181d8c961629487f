// The kernel of weight gradients, for the vectors of one instruction set. Included by a file for
// each, which is compiled for it, and therefore calls no function of another file.
//
// Sums are in registers from a run's first pixel to its last. A pixel of dy is a few vectors of
// filters; a value of x is broadcast. Where neighbouring columns of the output read neighbouring
// columns of x, a few columns are taken together, so that a broadcast serves several taps.
#pragma once

#include <utility>

#include "compute/conv/weight_gradient/weight_tile.h"

namespace trainyard::direct {
namespace {

template <int n>
using Constant = std::integral_constant<int, n>;

/// f(0), ..., f(n - 1) with constants, unrolled.
template <int n, class F>
[[gnu::always_inline]] inline void unrolled(const F& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(Constant<i>{}), ...);
  }
  (std::make_integer_sequence<int, n>{});
}

/// The rows of a tile, image by image: where x and dy are in the image of a row.
struct Rows {
  const WeightTile& tile;
  const float *x, *dy;
  std::int64_t row;  // row of the image

  explicit Rows(const WeightTile& of) : tile(of), x(of.x), dy(of.dy), row(of.begin % of.height) {}
  void next() {
    if (++row < tile.height) return;
    row = 0;
    x += tile.x_image;
    dy += tile.dy_image;
  }
};

/// What is prefetched with a row. Inlined, because GCC 12 takes a function that only prefetches for
/// one without effects, and drops its calls.
[[gnu::always_inline]] inline void prefetch(const WeightTile& tile, std::int64_t row) {
  constexpr std::int64_t kLine = 64;
  constexpr int kSecondLevel = 2;  // the second-level cache
  for (std::int64_t i = 0; i < tile.aheads; ++i) {
    const Ahead& ahead = tile.ahead[i];
    const char* const from = ahead.first + (row - tile.begin) * ahead.row_bytes;
    for (std::int64_t at = 0; at < ahead.row_bytes; at += kLine) {
      __builtin_prefetch(from + at, 0, kSecondLevel);
    }
  }
}

/// Adds a sum over a tile's rows to that of its part's rows before, if there are any.
template <class Simd>
[[gnu::always_inline]] inline void keep_sum(const WeightTile& tile, typename Simd::Vector sum,
                                            float* to) {
  Simd::store(to, tile.first_rows ? sum : Simd::add(Simd::load(to), sum));
}

/// Simd has Vector, kLanes, zero(), load(p), store(p, v), broadcast(p), add(a, b),
/// multiply_add(a, b, sum) and add_values(sum, p). kTogether: columns taken together, more than one
/// only where the steps from column to column and from tap to tap are known.
template <class Simd, Steps steps, int kTaps, int kVectors, int kChannels, int kTogether>
struct TileSum {
  using Vector = typename Simd::Vector;
  static constexpr std::int64_t kLanes = Simd::kLanes;

  const WeightTile& tile;
  Vector sums[kVectors][kChannels][kTaps];

  static constexpr bool kBlocks =
      steps == Steps::neighbours || steps == Steps::alternate || steps == Steps::blocks;
  static constexpr int kStride = steps == Steps::alternate ? 2 : 1;  // distance of columns, in taps

  [[nodiscard]] std::int64_t channel() const { return kBlocks ? 1 : tile.x_channel; }
  [[nodiscard]] std::int64_t tap() const {
    if (steps == Steps::planes) return 1;
    return kBlocks && steps != Steps::blocks ? kLanes : tile.x_tap;
  }
  [[nodiscard]] std::int64_t column() const {
    const bool known = steps != Steps::blocks && steps != Steps::any;
    return known ? kStride * tap() : tile.x_column;
  }

  /// Columns [p, p + kCount), in all taps; x and dy are at column p.
  template <int kCount>
  [[gnu::always_inline]] inline void add_columns(const float* x, const float* dy) {
    Vector filters[kVectors][kCount];
    unrolled<kVectors>([&](auto v) {
      unrolled<kCount>(
          [&](auto p) { filters[v][p] = Simd::load(dy + v * tile.dy_vector + p * kLanes); });
    });
    unrolled<kChannels>([&](auto i) {
      unrolled<(kCount - 1) * kStride + kTaps>([&](auto q) {
        const Vector value = Simd::broadcast(x + i * channel() + q * tap());
        unrolled<kTaps>([&](auto t) {
          constexpr int p = (q - t) / kStride;
          if constexpr (q - t == p * kStride && q >= t && p < kCount) {
            unrolled<kVectors>([&](auto v) {
              sums[v][i][t] = Simd::multiply_add(filters[v][p], value, sums[v][i][t]);
            });
          }
        });
      });
    });
  }

  /// Columns of tap t alone; x and dy are at column 0.
  template <int t>
  [[gnu::always_inline]] inline void add_tap(const float* x, const float* dy, const Span& columns) {
    for (std::int64_t p = columns.first; p < columns.last; ++p) {
      const float* const from = x + p * column() + t * tap();
      Vector filters[kVectors];
      unrolled<kVectors>(
          [&](auto v) { filters[v] = Simd::load(dy + v * tile.dy_vector + p * kLanes); });
      unrolled<kChannels>([&](auto i) {
        const Vector value = Simd::broadcast(from + i * channel());
        unrolled<kVectors>(
            [&](auto v) { sums[v][i][t] = Simd::multiply_add(filters[v], value, sums[v][i][t]); });
      });
    }
  }

  [[gnu::always_inline]] inline void add_row(const float* x, const float* dy) {
    unrolled<kTaps>([&](auto t) { add_tap<t>(x, dy, tile.before[t]); });
    std::int64_t p = tile.inner.first;
    if constexpr (kTogether > 1) {
      for (; p + kTogether <= tile.inner.last; p += kTogether) {
        add_columns<kTogether>(x + p * column(), dy + p * kLanes);
      }
    }
    for (; p < tile.inner.last; ++p) add_columns<1>(x + p * column(), dy + p * kLanes);
    unrolled<kTaps>([&](auto t) { add_tap<t>(x, dy, tile.after[t]); });
  }

  void run() {
    unrolled<kVectors>([&](auto v) {
      unrolled<kChannels>(
          [&](auto i) { unrolled<kTaps>([&](auto t) { sums[v][i][t] = Simd::zero(); }); });
    });
    Rows at(tile);
    for (std::int64_t r = tile.begin; r < tile.end; ++r, at.next()) {
      prefetch(tile, r);
      if (at.row >= tile.rows.first && at.row < tile.rows.last) {
        add_row(at.x + at.row * tile.x_row, at.dy + at.row * tile.dy_row);
      }
    }
    unrolled<kVectors>([&](auto v) {
      unrolled<kTaps>([&](auto t) {
        unrolled<kChannels>([&](auto i) {
          float* const to = tile.sums + v * tile.sums_vector + t * tile.sums_tap + i * kLanes;
          keep_sum<Simd>(tile, sums[v][i][t], to);
        });
      });
    });
  }
};

/// sums[lane] += the sum over all rows and columns of dy: from 0, column p to the sum p % 4 of
/// four.
template <class Simd>
void sum_filters(const WeightTile& tile) {
  constexpr int kSums = 4;
  typename Simd::Vector sums[kSums] = {Simd::zero(), Simd::zero(), Simd::zero(), Simd::zero()};
  Rows at(tile);
  for (std::int64_t r = tile.begin; r < tile.end; ++r, at.next()) {
    const float* const from = at.dy + at.row * tile.dy_row;
    std::int64_t p = 0;
    for (; p + kSums <= tile.inner.last; p += kSums) {
      unrolled<kSums>(
          [&](auto i) { sums[i] = Simd::add_values(sums[i], from + (p + i) * Simd::kLanes); });
    }
    for (int i = 0; p < tile.inner.last; ++p, ++i) {
      sums[i] = Simd::add_values(sums[i], from + p * Simd::kLanes);
    }
  }
  const auto total = Simd::add(Simd::add(sums[0], sums[1]), Simd::add(sums[2], sums[3]));
  keep_sum<Simd>(tile, total, tile.sums);
}

template <class Simd, Steps steps, int kTaps, int kVectors, int kChannels, int kTogether>
[[gnu::flatten]] void sum_tile(const WeightTile& tile) {
  TileSum<Simd, steps, kTaps, kVectors, kChannels, kTogether>{tile, {}}.run();
}

template <class Simd, Steps steps, int kTaps, int kVectors, int kChannels, int kTogether = 1>
inline constexpr TileKernel kKernel{steps, kTaps, kVectors, kChannels,
                                    &sum_tile<Simd, steps, kTaps, kVectors, kChannels, kTogether>};

}  // namespace
}  // namespace trainyard::direct

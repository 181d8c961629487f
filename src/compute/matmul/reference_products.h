// The two loops behind convolution and dense layers, over plain arrays in a defined order.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/host_device.h"

namespace trainyard::reference {

inline constexpr std::int64_t kRowTile = 4;  // rows computed together, for fewer loads

/// For each row r of `out`: out[r][i] = bias[r] + sum over j of weight(r, j) * terms[j][i], added
/// in the order of j. Rows and terms are split into groups: a row uses only the terms of its group.
/// One tile of up to kRowTile rows of a group is one row of the launcher.
template <class T>
struct WeightedRows {
  T* out;              // [groups * rows][length]
  const T* terms;      // [groups * count][length]
  const T* weight;     // weight(r, j) of group g: at g * rows * count + r * row_stride +
                       // j * term_stride
  const T* bias;       // [groups * rows] or null
  std::int64_t rows;   // rows of a group
  std::int64_t count;  // terms of a group
  std::int64_t length;
  std::int64_t row_stride, term_stride;

  [[nodiscard]] std::int64_t tiles(std::int64_t groups) const {
    return groups * ((rows + kRowTile - 1) / kRowTile);
  }
  template <class Team>
  TY_HD void operator()(const Team&, std::int64_t tile) const {
    const std::int64_t tiles_of_group = (rows + kRowTile - 1) / kRowTile;
    const std::int64_t group = tile / tiles_of_group;
    const std::int64_t first = tile % tiles_of_group * kRowTile;
    if (first + kRowTile <= rows) {
      compute<kRowTile>(group, first);
    } else {
      for (std::int64_t row = first; row < rows; ++row) compute<1>(group, row);
    }
  }

 private:
  template <std::int64_t Rows>
  TY_HD void compute(std::int64_t group, std::int64_t first) const {
    T* y = out + (group * rows + first) * length;
    for (std::int64_t r = 0; r < Rows; ++r) {
      const T start = bias != nullptr ? bias[group * rows + first + r] : T(0);
      for (std::int64_t i = 0; i < length; ++i) y[r * length + i] = start;
    }
    const T* w = weight + group * rows * count + first * row_stride;
    const T* x = terms + group * count * length;
    std::int64_t j = 0;
    for (; j + 4 <= count; j += 4) add<Rows, 4>(y, w + j * term_stride, x + j * length);
    for (; j < count; ++j) add<Rows, 1>(y, w + j * term_stride, x + j * length);
  }
  template <std::int64_t Rows, std::int64_t Terms>
  TY_HD void add(T* __restrict y, const T* w, const T* __restrict x) const {
    T factor[Rows][Terms];
    for (std::int64_t r = 0; r < Rows; ++r) {
      for (std::int64_t j = 0; j < Terms; ++j) factor[r][j] = w[r * row_stride + j * term_stride];
    }
#pragma GCC ivdep
    for (std::int64_t i = 0; i < length; ++i) {
#pragma GCC unroll 4
      for (std::int64_t r = 0; r < Rows; ++r) {
        T sum = y[r * length + i];
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < Terms; ++j) sum += factor[r][j] * x[j * length + i];
        y[r * length + i] = sum;
      }
    }
  }
};

/// out[r][j] = start + dot(a[r], b[j]) for the rows of a and b of one group. A dot product adds
/// products p = l, l + 16, ... in lane l, then the lanes in order.
template <class T>
struct RowProducts {
  static constexpr std::int64_t kLanes = 16;

  T* out;              // [groups * rows][count]
  const T* a;          // [groups * rows][length]
  const T* b;          // [groups * count][length]
  const T* bias;       // [count] or null: the start (of dense layers, which have one group)
  bool accumulate;     // the start is the content of `out`
  std::int64_t rows;   // rows of a, in a group
  std::int64_t count;  // rows of b, of a group
  std::int64_t length;

  [[nodiscard]] std::int64_t tiles(std::int64_t groups) const {
    return groups * ((rows + kRowTile - 1) / kRowTile);
  }
  template <class Team>
  TY_HD void operator()(const Team&, std::int64_t tile) const {
    const std::int64_t tiles_of_group = (rows + kRowTile - 1) / kRowTile;
    const std::int64_t group = tile / tiles_of_group;
    const std::int64_t first = tile % tiles_of_group * kRowTile;
    for (std::int64_t j = 0; j < count; ++j) {
      if (first + kRowTile <= rows) {
        compute<kRowTile>(group, first, j);
      } else {
        for (std::int64_t row = first; row < rows; ++row) compute<1>(group, row, j);
      }
    }
  }

 private:
  template <std::int64_t Rows>
  TY_HD void compute(std::int64_t group, std::int64_t first, std::int64_t j) const {
    // A vector type of the compiler, so that the lanes stay in registers.
    typedef T Lanes __attribute__((vector_size(kLanes * sizeof(T))));
    const T* x = a + (group * rows + first) * length;
    const T* y = b + (group * count + j) * length;
    Lanes sums[Rows] = {};
    std::int64_t p = 0;
    for (; p + kLanes <= length; p += kLanes) {
      Lanes right;
      std::memcpy(&right, y + p, sizeof right);
#pragma GCC unroll 4
      for (std::int64_t r = 0; r < Rows; ++r) {
        Lanes left;
        std::memcpy(&left, x + r * length + p, sizeof left);
        sums[r] += left * right;
      }
    }
    for (std::int64_t r = 0; r < Rows; ++r) {
      for (std::int64_t l = 0; p + l < length; ++l) sums[r][l] += x[r * length + p + l] * y[p + l];
      T& target = out[(group * rows + first + r) * count + j];
      T total = accumulate ? target : bias != nullptr ? bias[j] : T(0);
      for (std::int64_t l = 0; l < kLanes; ++l) total += sums[r][l];
      target = total;
    }
  }
};

}  // namespace trainyard::reference

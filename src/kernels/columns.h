// How columns() of every launcher splits its sums: fixed chunks of rows, each summed row by row,
// then the chunks in order.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// Rows that columns() sums into one partial result.
inline constexpr std::int64_t kColumnRows = 128;

/// Chunks of rows.
TY_HD constexpr std::int64_t column_chunks(std::int64_t rows) {
  return (rows + kColumnRows - 1) / kColumnRows;
}
/// Partial results that columns() needs, in elements of the functor's Sum.
TY_HD constexpr std::int64_t column_partials(std::int64_t rows, std::int64_t columns) {
  return column_chunks(rows) * columns;
}

/// First stage, one column of one chunk per call: neighbouring calls read neighbouring columns.
template <class F>
struct ColumnChunk {
  using Sum = typename F::Sum;
  F f;
  std::int64_t rows, columns;
  Sum* partials;  // [chunks, columns]

  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t chunk = i / columns, column = i % columns;
    const std::int64_t end = (chunk + 1) * kColumnRows < rows ? (chunk + 1) * kColumnRows : rows;
    Sum sum = {};
    for (std::int64_t row = chunk * kColumnRows; row < end; ++row) sum += f(row, column);
    partials[i] = sum;
  }
};

/// Second stage: the chunks of one column in order.
template <class F>
struct ColumnTotals {
  using Sum = typename F::Sum;
  F f;
  std::int64_t chunks, columns;
  const Sum* partials;

  TY_HD void operator()(std::int64_t column) const {
    Sum total = {};
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      total += partials[chunk * columns + column];
    }
    f.finish(column, total);
  }
};

}  // namespace trainyard

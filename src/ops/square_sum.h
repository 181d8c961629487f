// The L2 norm of a flat block, in double and in a fixed order; also how a non-finite value in the
// block is found, since it makes the sum non-finite.
#pragma once

#include <cstdint>

#include "base/math.h"
#include "kernels/columns.h"

namespace trainyard {

/// Columns that a flat block is read as: a row is one line of this many elements.
inline constexpr std::int64_t kSquareColumns = 64;
/// Doubles of scratch that square_sum() needs for a block of `elements`.
constexpr std::int64_t square_sum_scratch(std::int64_t elements) {
  const std::int64_t rows = (elements + kSquareColumns - 1) / kSquareColumns;
  return column_partials(rows, kSquareColumns) + kSquareColumns;
}

/// Squares of a block read as [rows, kSquareColumns]; the columns' sums go to totals.
template <class T>
struct SquareColumns {
  using Sum = double;
  const T* values;
  std::int64_t elements;
  double* totals;  // [kSquareColumns]
  TY_HD double operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t i = row * kSquareColumns + column;
    const double value = i < elements ? static_cast<double>(values[i]) : 0.0;
    return value * value;
  }
  TY_HD void finish(std::int64_t column, double sum) const { totals[column] = sum; }
};

/// The sum over the columns. Of one row.
struct SquareTotal {
  const double* totals;  // [kSquareColumns]
  double* out;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t /*row*/) const {
    const double sum =
        team.template sum<double>(kSquareColumns, [&](std::int64_t i) { return totals[i]; });
    team.once([&] { *out = sum; });
  }
};

/// *out = sum of squares of values[0 .. elements). Non-finite if and only if a value is (squares of
/// floats cannot overflow a double; of doubles only beyond 1e154). `scratch` holds
/// square_sum_scratch(elements).
template <class T, class Launcher>
void square_sum(const Launcher& launcher, const T* values, std::int64_t elements, double* scratch,
                double* out) {
  const std::int64_t rows = (elements + kSquareColumns - 1) / kSquareColumns;
  double* const totals = scratch + column_partials(rows, kSquareColumns);
  launcher.columns(rows, kSquareColumns, SquareColumns<T>{values, elements, totals}, scratch);
  launcher.rows(1, SquareTotal{totals, out});
}

}  // namespace trainyard

// Functors whose results must be bit-identical whatever the launcher.
#pragma once

#include <cstdint>
#include <limits>

#include "base/math.h"

namespace trainyard::test {

/// Multiplications and additions that a compiler could contract, and our own functions.
struct Wave {
  const float* in;
  float* out;
  TY_HD void operator()(std::int64_t i) const {
    const float x = in[i];
    out[i] = x * x + 0.3f * x + math::exp(x) * math::tanh(x) - math::log1p(math::erf(x) * 0.5f);
  }
};

/// Below every value. (A variable, since device code may not call the standard library for it.)
inline constexpr float kLeast = -std::numeric_limits<float>::infinity();

/// sums[row] and maxima[row] of a [rows, width] matrix.
struct RowSums {
  const float* in;
  std::int64_t width;
  float* sums;
  float* maxima;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const float* const own = in + row * width;
    const float sum = team.template sum<float>(width, [&](std::int64_t i) { return own[i]; });
    const float most =
        team.template max<float>(width, kLeast, [&](std::int64_t i) { return own[i]; });
    team.once([&] {
      sums[row] = sum;
      maxima[row] = most;
    });
  }
};

/// The sums of the rows of a [rows, width] matrix, then of the rows' sums.
struct TotalOfRows {
  const float* in;
  std::int64_t rows, width;
  float* sums;   // [rows]
  float* total;  // += the sum
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const float* const own = in + row * width;
    const float sum = team.template sum<float>(width, [&](std::int64_t i) { return own[i]; });
    team.once([&] { sums[row] = sum; });
  }
  template <class Team>
  TY_HD void finish(const Team& team) const {
    const float sum = team.template sum<float>(rows, [&](std::int64_t i) { return sums[i]; });
    team.once([&] { *total += sum; });
  }
};

/// Two sums at once.
struct Moments {
  float sum, squares;
  TY_HD Moments& operator+=(const Moments& other) {
    sum += other.sum;
    squares += other.squares;
    return *this;
  }
};

/// Sum and sum of squares of each column of a [rows, columns] matrix.
struct ColumnMoments {
  using Sum = Moments;
  const float* in;
  std::int64_t columns;
  Moments* out;
  TY_HD Moments operator()(std::int64_t row, std::int64_t column) const {
    const float value = in[row * columns + column];
    return {value, value * value};
  }
  TY_HD void finish(std::int64_t column, Moments sum) const { out[column] = sum; }
};

}  // namespace trainyard::test

// How large the rounding errors of a convolution of 3x3 should be, from the order of its sums.
//
// Roundings are taken as random, independent and with mean zero (Higham and Mary, A New Approach to
// Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41, 2019). Rounding x to float adds
// an error with the mean square r^2 x^2: ulp^2 / 12 with ulp = 2^-23 for a mantissa m in [1, 2)
// that is distributed as 1 / m, so r^2 = 4 / 12 * 3 / (8 ln 2) = 0.180 in units of 2^-48. Inputs
// and weights are independent with mean zero, so mean squares of terms add up to those of sums.
//
// Direct: of 9 C products summed one after the other, k products have k times the mean square of
// one, and each partial sum is rounded: r^2 (1 + ... + 9 C) = r^2 (9 C)^2 / 2, and of the output's
// mean square, which is that of 9 C products, it is 9 C / 2 r^2.
//
// Winograd: an output is the sum over points i, j of a(y, i) a(x, j) s(i, j), where s(i, j) is the
// sum over channels of products of transformed inputs and weights. These have the mean squares
// |b(i)|^2 |b(j)|^2 and |g(i)|^2 |g(j)|^2 times those of inputs and weights, with the rows b and g
// of the transforms B and G. So the terms of an output have growth(rows) * growth(columns) times
// its own mean square, with
//   growth = sum over i of a(i)^2 |b(i)|^2 |g(i)|^2 / (taps of the output inside the map),
// and each time that they are rounded adds r^2 times this. Roundings are counted: in a transform, a
// partial sum counts as the result (its terms are fewer; those of the outputs' transform are taken
// as uncorrelated); a chain of 16 products has (1 + ... + 16) / 16 = 8.5, n chains add at most
// (n + 1) / 2, and the bias 1. Growth is 5/3 in a direction for F(2, 3) and 4.9 for F(4, 3), of
// which the outer outputs have 7.2.
#pragma once

#include <cstdint>

#include "compute/conv/winograd/kernels.h"

namespace trainyard::test {

/// Deviation of actual results, in units of 2^-24 of the root mean square of exact ones.
struct Deviation {
  double mean_square = 0;  // its root
  double largest = 0;
};

/// Rows or columns of a convolution.
struct Direction {
  std::int64_t inputs = 0, outputs = 0;
  std::int64_t before = 0;  // the margin
};

/// What is expected of sums over `channels`; the largest error is six standard deviations at the
/// outputs where they are largest.
[[nodiscard]] Deviation winograd_rounding(winograd::Tile tile, const Direction& rows,
                                          const Direction& columns, std::int64_t channels);

}  // namespace trainyard::test

#include "rounding_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "compute/conv/winograd/transforms.h"

namespace trainyard::test {
namespace {

/// A number in the place of a vector, for the coefficients of the transforms.
struct Number {
  double value = 0;
  static Number all(float x) { return {x}; }
  friend Number operator+(Number a, Number b) { return {a.value + b.value}; }
  friend Number operator-(Number a, Number b) { return {a.value - b.value}; }
  friend Number operator*(Number a, Number b) { return {a.value * b.value}; }
  friend Number fma(Number a, Number b, Number c) { return {a.value * b.value + c.value}; }
};

double square(Number x) { return x.value * x.value; }

/// Mean squares over those of direct products, of a direction.
struct Growth {
  double mean = 0, largest = 0;
};

/// Squared coefficients of a transform F in one direction.
template <class F>
struct Squares {
  double inputs[F::kInputs][F::kInputs] = {};    // b(i, l)^2
  double taps[F::kInputs] = {};                  // |g(i)|^2
  double outputs[F::kOutputs][F::kInputs] = {};  // a(y, i)^2

  Squares() {
    for (int l = 0; l < F::kInputs; ++l) {
      Number unit[F::kInputs] = {}, sums[F::kInputs] = {}, out[F::kOutputs];
      unit[l] = sums[l] = {1};
      F::input(unit);
      F::output(sums, out);
      for (int i = 0; i < F::kInputs; ++i) inputs[i][l] = square(unit[i]);
      for (int y = 0; y < F::kOutputs; ++y) outputs[y][l] = square(out[y]);
    }
    for (int tap = 0; tap < 3; ++tap) {
      Number unit[3] = {}, out[F::kInputs];
      unit[tap] = {1};
      F::taps(unit, out);
      for (int i = 0; i < F::kInputs; ++i) taps[i] += square(out[i]);
    }
  }
};

template <class F>
Growth growth_of(const Direction& direction) {
  const Squares<F> squares;
  const auto inside = [&](std::int64_t at) {
    return at >= direction.before && at < direction.before + direction.inputs;
  };
  double terms = 0, largest = 0, taps = 0;
  for (std::int64_t at = 0; at < direction.outputs; ++at) {
    const std::int64_t y = at % F::kOutputs, first = at - y;
    double own = 0;
    for (int i = 0; i < F::kInputs; ++i) {
      double input = 0;
      for (int l = 0; l < F::kInputs; ++l) input += inside(first + l) ? squares.inputs[i][l] : 0;
      own += squares.outputs[y][i] * input * squares.taps[i];
    }
    terms += own;
    largest = std::max(largest, own);
    for (int tap = 0; tap < 3; ++tap) taps += inside(at + tap) ? 1 : 0;
  }
  return {.mean = terms / taps, .largest = largest * static_cast<double>(direction.outputs) / taps};
}

/// Growth, and roundings of inputs, of weights and of outputs.
struct Transform {
  Growth (*growth)(const Direction& direction);
  double roundings;
};
constexpr Transform kTwo{.growth = &growth_of<winograd::TwoOutputs>, .roundings = 1 + 2 + 2};
constexpr Transform kFour{.growth = &growth_of<winograd::FourOutputs>, .roundings = 2 + 3 + 3};

struct TileTransforms {
  Transform rows, columns;
};
constexpr std::array<TileTransforms, 3> kTransforms{
    {{kTwo, kTwo}, {kFour, kTwo}, {kFour, kFour}}};  // by Tile

constexpr double kChain = 16;
constexpr double kRounding = 0.180;  // r^2
constexpr double kDeviations = 6;

}  // namespace

Deviation winograd_rounding(winograd::Tile tile, const Direction& rows, const Direction& columns,
                            std::int64_t channels) {
  const TileTransforms& form = kTransforms.at(static_cast<std::size_t>(tile));
  const double chains = std::ceil(static_cast<double>(channels) / kChain);
  const double length = std::min(static_cast<double>(channels), kChain);
  const double sums = (length + 1) / 2 + (chains > 1 ? (chains + 1) / 2 : 0) + 1;
  const double roundings = kRounding * (sums + form.rows.roundings + form.columns.roundings);
  const Growth y = form.rows.growth(rows), x = form.columns.growth(columns);
  return {.mean_square = std::sqrt(roundings * y.mean * x.mean),
          .largest = kDeviations * std::sqrt(roundings * y.largest * x.largest)};
}

}  // namespace trainyard::test

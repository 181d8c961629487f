#include "base/math.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace trainyard {
namespace {

const float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Distance of `value` from `exact` in units of the float spacing at `exact`.
double ulps(float value, double exact) {
  const float rounded = static_cast<float>(exact);
  if (value == rounded) return 0;
  const double spacing = std::nextafter(std::fabs(rounded), kInfinity) - std::fabs(rounded);
  return std::fabs(value - exact) / spacing;
}

/// Worst error over every `stride`-th float of [-bound, bound].
template <class Ours, class Exact>
double worst(float from, float to, const Ours& ours, const Exact& exact) {
  double most = 0;
  const auto visit = [&](float x) {
    if (x < from || x > to) return;
    const double error = ulps(ours(x), exact(static_cast<double>(x)));
    if (!(error <= most)) most = error;
  };
  for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += 1009) {  // a prime
    visit(math::float_of(bits));
    visit(-math::float_of(bits));
  }
  return most;
}

TEST_CASE("exp is within 1.1 ulps of the exact value, subnormal results included") {
  const auto ours = [](float x) { return math::exp(x); };
  const auto exact = [](double x) { return std::exp(x); };
  CHECK(worst(-103.9f, 88.7f, ours, exact) <= 1.1);
  CHECK(math::exp(89.0f) == kInfinity);
  CHECK(math::exp(kInfinity) == kInfinity);
  CHECK(math::exp(-kInfinity) == 0.0f);
  CHECK(math::exp(0.0f) == 1.0f);
  CHECK(std::isnan(math::exp(kNaN)));
}

TEST_CASE("expm1 is within two ulps of the exact value, near zero too") {
  const auto ours = [](float x) { return math::expm1(x); };
  CHECK(worst(-100.0f, 88.7f, ours, [](double x) { return std::expm1(x); }) <= 2.0);
  CHECK(math::expm1(90.0f) == kInfinity);
  CHECK(math::expm1(-kInfinity) == -1.0f);
  CHECK(std::isnan(math::expm1(kNaN)));
}

TEST_CASE("log is within one ulp of the exact value, subnormal numbers included") {
  const auto ours = [](float x) { return math::log(x); };
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  CHECK(worst(least, most, ours, [](double x) { return std::log(x); }) <= 1.0);
  CHECK(math::log(0.0f) == -kInfinity);
  CHECK(math::log(kInfinity) == kInfinity);
  CHECK(std::isnan(math::log(-1.0f)));
  CHECK(std::isnan(math::log(kNaN)));
}

TEST_CASE("log1p is within two ulps of the exact value, near zero too") {
  const auto ours = [](float x) { return math::log1p(x); };
  const auto exact = [](double x) { return std::log1p(x); };
  CHECK(worst(-0.999999f, std::numeric_limits<float>::max(), ours, exact) <= 2.0);
  CHECK(math::log1p(-1.0f) == -kInfinity);
  CHECK(math::log1p(kInfinity) == kInfinity);
  CHECK(std::isnan(math::log1p(-2.0f)));
  CHECK(std::isnan(math::log1p(kNaN)));
}

TEST_CASE("tanh is within three ulps of the exact value and odd") {
  const auto ours = [](float x) { return math::tanh(x); };
  CHECK(worst(-50.0f, 50.0f, ours, [](double x) { return std::tanh(x); }) <= 3.0);
  CHECK(math::tanh(kInfinity) == 1.0f);
  CHECK(math::tanh(-kInfinity) == -1.0f);
  CHECK(math::bits_of(math::tanh(-0.0f)) == math::bits_of(-0.0f));
  CHECK(std::isnan(math::tanh(kNaN)));
}

TEST_CASE("erf is within two ulps of the exact value and odd") {
  const auto ours = [](float x) { return math::erf(x); };
  CHECK(worst(-50.0f, 50.0f, ours, [](double x) { return std::erf(x); }) <= 2.0);
  CHECK(math::erf(kInfinity) == 1.0f);
  CHECK(math::erf(-kInfinity) == -1.0f);
  CHECK(std::isnan(math::erf(kNaN)));
}

TEST_CASE("max prefers the number that is not a NaN") {
  CHECK(math::max(1.0f, 2.0f) == 2.0f);
  CHECK(math::max(kNaN, 2.0f) == 2.0f);
  CHECK(math::max(2.0f, kNaN) == 2.0f);
}

}  // namespace
}  // namespace trainyard

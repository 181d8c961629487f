#include "base/math.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace trainyard {
namespace {

/// Distance of `value` from `exact` in units of the float spacing at `exact`.
double ulps(float value, double exact) {
  const float rounded = static_cast<float>(exact);
  if (value == rounded) return 0;
  const double spacing =
      std::nextafter(std::fabs(rounded), math::kInfinity<float>) - std::fabs(rounded);
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
  CHECK(math::exp(89.0f) == math::kInfinity<float>);
  CHECK(math::exp(math::kInfinity<float>) == math::kInfinity<float>);
  CHECK(math::exp(-math::kInfinity<float>) == 0.0f);
  CHECK(math::exp(0.0f) == 1.0f);
  CHECK(std::isnan(math::exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("expm1 is within two ulps of the exact value, also near zero") {
  const auto ours = [](float x) { return math::expm1(x); };
  CHECK(worst(-100.0f, 88.7f, ours, [](double x) { return std::expm1(x); }) <= 2.0);
  CHECK(math::expm1(90.0f) == math::kInfinity<float>);
  CHECK(math::expm1(-math::kInfinity<float>) == -1.0f);
  CHECK(std::isnan(math::expm1(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("log is within one ulp of the exact value, subnormal numbers included") {
  const auto ours = [](float x) { return math::log(x); };
  const float most = std::numeric_limits<float>::max();
  const float least = std::numeric_limits<float>::denorm_min();
  CHECK(worst(least, most, ours, [](double x) { return std::log(x); }) <= 1.0);
  CHECK(math::log(0.0f) == -math::kInfinity<float>);
  CHECK(math::log(math::kInfinity<float>) == math::kInfinity<float>);
  CHECK(std::isnan(math::log(-1.0f)));
  CHECK(std::isnan(math::log(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("log1p is within two ulps of the exact value, also near zero") {
  const auto ours = [](float x) { return math::log1p(x); };
  const auto exact = [](double x) { return std::log1p(x); };
  CHECK(worst(-0.999999f, std::numeric_limits<float>::max(), ours, exact) <= 2.0);
  CHECK(math::log1p(-1.0f) == -math::kInfinity<float>);
  CHECK(math::log1p(math::kInfinity<float>) == math::kInfinity<float>);
  CHECK(std::isnan(math::log1p(-2.0f)));
  CHECK(std::isnan(math::log1p(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("tanh is within three ulps of the exact value and odd") {
  const auto ours = [](float x) { return math::tanh(x); };
  CHECK(worst(-50.0f, 50.0f, ours, [](double x) { return std::tanh(x); }) <= 3.0);
  CHECK(math::tanh(math::kInfinity<float>) == 1.0f);
  CHECK(math::tanh(-math::kInfinity<float>) == -1.0f);
  CHECK(math::bits_of(math::tanh(-0.0f)) == math::bits_of(-0.0f));
  CHECK(std::isnan(math::tanh(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("erf is within two ulps of the exact value and odd") {
  const auto ours = [](float x) { return math::erf(x); };
  CHECK(worst(-50.0f, 50.0f, ours, [](double x) { return std::erf(x); }) <= 2.0);
  CHECK(math::erf(math::kInfinity<float>) == 1.0f);
  CHECK(math::erf(-math::kInfinity<float>) == -1.0f);
  CHECK(std::isnan(math::erf(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("max prefers a number to a NaN") {
  CHECK(math::max(1.0f, 2.0f) == 2.0f);
  CHECK(math::max(std::numeric_limits<float>::quiet_NaN(), 2.0f) == 2.0f);
  CHECK(math::max(2.0f, std::numeric_limits<float>::quiet_NaN()) == 2.0f);
}

}  // namespace
}  // namespace trainyard

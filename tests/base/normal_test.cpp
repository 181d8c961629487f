#include "base/normal.h"

#include <doctest/doctest.h>

#include <cmath>

namespace trainyard::math {
namespace {

struct Quantile {
  std::uint32_t k;  // p = (k + 1/2) / 2^23
  double z;
};
// From NormalDist().inv_cdf() of Python's statistics.
constexpr Quantile kQuantiles[] = {
    {0, -5.294704084854597},         {1, -5.090230845321854},
    {100, -4.224369476312396},       {600000, -1.4645224022491963},
    {3000000, -0.36480649490833106}, {4194303, -1.4940668789333167e-07},
    {7000000, 0.9719612490186371},   {8388607, 5.294704084854597}};

TEST_CASE("normal numbers are quantiles of the normal distribution") {
  for (const Quantile& quantile : kQuantiles) {
    const std::uint32_t word = quantile.k << 9;
    CAPTURE(quantile.k);
    CHECK(std::abs(normal_of<double>(word) - quantile.z) <= 1e-14 * (1 + std::abs(quantile.z)));
    CHECK(std::abs(normal_of<float>(word) - quantile.z) <= 3e-7 * (1 + std::abs(quantile.z)));
  }
}

TEST_CASE("normal numbers are symmetric, increasing, and have variance 1") {
  double before = -6, squares = 0;
  constexpr std::uint32_t kStep = 1021;
  std::uint32_t count = 0;
  for (std::uint32_t k = 0; k < 1u << 22; k += kStep, ++count) {
    const double z = normal_of<double>(k << 9);
    CHECK(z > before);
    CHECK(normal_of<double>(((1u << 23) - 1 - k) << 9) == -z);
    CHECK(normal_of<float>(((1u << 23) - 1 - k) << 9) == -normal_of<float>(k << 9));
    squares += z * z;
    before = z;
  }
  CHECK(std::abs(squares / count - 1) < 0.01);  // a sum over every 1021st of the 2^22 quantiles
}

TEST_CASE("the low bits of a word do not change a normal number") {
  CHECK(normal_of<float>(0x12345600u) == normal_of<float>(0x123457ffu));
}

}  // namespace
}  // namespace trainyard::math

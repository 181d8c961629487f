#include "base/half.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/math.h"

namespace trainyard {
namespace {

/// The exact value, in double, of a 16-bit float with this many mantissa bits and this exponent
/// bias.
double meaning(std::uint16_t bits, int mantissa_bits, int bias) {
  const int field = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int last_field = (1 << (15 - mantissa_bits)) - 1;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (field == last_field)
    return mantissa == 0 ? sign * math::kInfinity<float> : std::numeric_limits<float>::quiet_NaN();
  const int exponent = (field == 0 ? 1 : field) - bias;
  const int whole = mantissa + (field == 0 ? 0 : 1 << mantissa_bits);
  return sign * std::ldexp(whole, exponent - mantissa_bits);
}

struct Format {
  int mantissa_bits, bias;
  std::uint16_t largest;  // finite
};
template <class Half>
constexpr Format kFormat =
    std::is_same_v<Half, Float16> ? Format{10, 15, 0x7bff} : Format{7, 127, 0x7f7f};

template <class Half>
double meaning(std::uint16_t bits) {
  return meaning(bits, kFormat<Half>.mantissa_bits, kFormat<Half>.bias);
}

/// The bits of the number nearest to a value of at least 0, ties to even, found by search.
template <class Half>
std::uint16_t nearest(double value) {
  const std::uint16_t largest = kFormat<Half>.largest;
  std::uint16_t low = 0, high = largest;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (meaning<Half>(middle) <= value ? low : high) = middle;
  }
  if (meaning<Half>(high) <= value) low = high;
  // One step beyond the largest number represents infinity.
  const double spacing = meaning<Half>(largest) - meaning<Half>(largest - 1);
  const double above = low == largest ? meaning<Half>(largest) + spacing : meaning<Half>(low + 1);
  const double down = value - meaning<Half>(low), up = above - value;
  if (up < down || (up == down && low % 2 == 1)) return static_cast<std::uint16_t>(low + 1);
  return low;
}

template <class Half>
Half of_bits(std::uint32_t bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

template <class Half>
void check_conversion() {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float wide = of_bits<Half>(bits);
    const double expected = meaning<Half>(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected) ? !std::isnan(wide)
                             : wide != expected || std::signbit(wide) != std::signbit(expected)) {
      CAPTURE(bits);
      FAIL_CHECK("wrong value " << wide);
    }
  }
}

template <class Half>
void check_round_trip() {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const float wide = of_bits<Half>(bits);
    const std::uint32_t expected = std::isnan(wide) ? 0x7fffu : bits;
    if (Half(wide).bits != expected) {
      CAPTURE(bits);
      FAIL_CHECK("comes back as " << Half(wide).bits);
    }
  }
}

template <class Half>
void check_rounding(float value) {
  const std::uint16_t expected = nearest<Half>(value);
  if (Half(value).bits != expected || Half(-value).bits != (expected | 0x8000)) {
    CAPTURE(value);
    FAIL_CHECK("rounds to " << Half(value).bits << ", expected " << expected);
  }
}

/// Every midpoint between two neighbours, the floats around it, and a dense sample of all floats.
template <class Half>
void check_all_rounding() {
  for (std::uint32_t bits = 0; bits < kFormat<Half>.largest; ++bits) {
    const double low = meaning<Half>(static_cast<std::uint16_t>(bits));
    const double high = meaning<Half>(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    check_rounding<Half>(middle);
    check_rounding<Half>(std::nextafter(middle, math::kInfinity<float>));
    check_rounding<Half>(std::nextafter(middle, 0.0f));
  }
  for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += 10007) {  // a prime
    check_rounding<Half>(math::float_of(bits));
  }
}

template <class Half>
void check_edges(std::uint16_t infinity) {
  CHECK(Half(math::kInfinity<float>).bits == infinity);
  CHECK(Half(-math::kInfinity<float>).bits == (infinity | 0x8000));
  CHECK(Half(std::numeric_limits<float>::max()).bits == infinity);
  CHECK(Half(std::numeric_limits<float>::quiet_NaN()).bits == 0x7fff);
  CHECK(Half(-std::numeric_limits<float>::quiet_NaN()).bits == 0x7fff);
  CHECK(Half(math::float_of(0x7f800001u)).bits == 0x7fff);  // a NaN whose upper bits are infinity's
  CHECK(Half(0.0f).bits == 0);
  CHECK(Half(-0.0f).bits == 0x8000);
  CHECK(std::isnan(static_cast<float>(Half(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace

TEST_CASE("every 16-bit float converts to its value") {
  check_conversion<Float16>();
  check_conversion<BFloat16>();
}

TEST_CASE("every 16-bit float survives the round trip through float") {
  check_round_trip<Float16>();
  check_round_trip<BFloat16>();
}

TEST_CASE("floats round to the nearest 16-bit float, ties to even, subnormals and overflow too") {
  check_all_rounding<Float16>();
  check_all_rounding<BFloat16>();
}

TEST_CASE("infinities, NaN, signed zeros and overflow of the 16-bit floats") {
  check_edges<Float16>(0x7c00);
  check_edges<BFloat16>(0x7f80);
  CHECK(Float16(65519.996f).bits == 0x7bff);
  CHECK(Float16(65520.0f).bits == 0x7c00);
  CHECK(Float16(0x1p-25f).bits == 0);  // the tie with zero goes to even
  CHECK(Float16(0x1.000002p-25f).bits == 1);
}

TEST_CASE("a double does not silently round to 16 bits through float") {
  static_assert(!std::is_constructible_v<Float16, double>);
  static_assert(!std::is_constructible_v<BFloat16, double>);
  static_assert(std::is_same_v<Arithmetic<Float16>, float>);
  static_assert(std::is_same_v<Arithmetic<BFloat16>, float>);
  static_assert(std::is_same_v<Arithmetic<double>, double>);
}

}  // namespace trainyard

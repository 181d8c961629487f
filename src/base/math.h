// Elementary functions that are bit-identical on every device.
//
// The float versions are our own: branch-free, so that loops over them vectorise, and built from
// IEEE operations and explicit fused multiply-adds, so that CPUs of any vector width and GPUs round
// alike. Errors stay within the ulps stated for each (tests/base/math_test.cpp). The double
// versions, used only by the reference device and checks, are the C library's.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/host_device.h"

namespace trainyard::math {

/// As variables: device code can read constants but not call the standard library for them.
template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNotANumber = std::numeric_limits<T>::quiet_NaN();

TY_HD std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
TY_HD float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
TY_HD float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TY_HD double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
TY_HD float abs(float x) { return __builtin_fabsf(x); }
TY_HD double abs(double x) { return __builtin_fabs(x); }
TY_HD float sqrt(float x) { return __builtin_sqrtf(x); }
TY_HD double sqrt(double x) { return __builtin_sqrt(x); }
/// The larger of two; b if a is NaN, a if b is (both NaN: b).
template <class T>
TY_HD T max(T a, T b) {
  return a > b || b != b ? a : b;
}
/// False for NaN and both infinities.
TY_HD bool is_finite(float x) { return abs(x) <= 3.402823466e+38f; }
TY_HD bool is_finite(double x) { return abs(x) <= 1.7976931348623157e+308; }

/// x = n * ln 2 + r with |r| <= ln 2 / 2, for |x| < 2^20; NaN gives r = NaN and some n.
struct Reduced {
  std::int32_t n;
  float r;
};
TY_HD Reduced reduce_by_ln2(float x) {
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
  const float shifted = fma(x, 1.44269504f, 12582912.0f);
  const std::int32_t n = static_cast<std::int32_t>(bits_of(shifted) - bits_of(12582912.0f));
  const float whole = shifted - 12582912.0f;
  const float high = fma(whole, -0.693145752f, x);  // ln 2 to 16 bits: whole * it is exact
  return {n, fma(whole, -1.42860677e-6f, high)};
}

/// exp(r) - 1 for |r| <= ln 2 / 2: Taylor series to r^7, with a remainder below 6e-9 of the value.
TY_HD float expm1_reduced(float r) {
  float p = fma(r, 1.0f / 5040, 1.0f / 720);
  p = fma(p, r, 1.0f / 120);
  p = fma(p, r, 1.0f / 24);
  p = fma(p, r, 1.0f / 6);
  p = fma(p, r, 0.5f);
  return fma(r * r, p, r);
}

/// e^x within 1.1 ulp.
TY_HD float exp(float x) {
  const float above = x < -104.0f ? -104.0f : x;
  const float bounded = above > 89.0f ? 89.0f : above;
  const Reduced reduced = reduce_by_ln2(bounded);
  // 2^n in two factors, so that the last product gives overflow and subnormal results.
  const std::int32_t half = reduced.n >> 1;
  const std::uint32_t low = static_cast<std::uint32_t>(half + 127) << 23;
  const std::uint32_t high = static_cast<std::uint32_t>(reduced.n - half + 127) << 23;
  return (1.0f + expm1_reduced(reduced.r)) * float_of(low) * float_of(high);
}
TY_HD double exp(double x) { return std::exp(x); }

/// e^x - 1 within 2 ulp, also near 0.
TY_HD float expm1(float x) {
  const float above = x < -20.0f ? -20.0f : x;
  const float bounded = above > 89.0f ? 89.0f : above;
  const Reduced reduced = reduce_by_ln2(bounded);
  // Half of 2^n, doubled at the end, so that 2^128 is never formed.
  const float half = float_of(static_cast<std::uint32_t>(reduced.n + 126) << 23);
  return 2.0f * fma(half, expm1_reduced(reduced.r), half - 0.5f);
}
TY_HD double expm1(double x) { return std::expm1(x); }

/// Natural logarithm within 1 ulp; -inf at 0, NaN below. The series of atanh, as in fdlibm's
/// e_log.c (Sun Microsystems 1993).
TY_HD float log(float x) {
  const bool subnormal = x < 1.17549435e-38f;
  const float normal = x * (subnormal ? 8388608.0f : 1.0f);
  // x = 2^n * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
  const std::uint32_t shifted = bits_of(normal) - 0x3f3504f3u;
  const std::int32_t exponent = static_cast<std::int32_t>(shifted) >> 23;
  const float f = float_of((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  const float n = static_cast<float>(exponent - (subnormal ? 23 : 0));
  const float s = f / (2.0f + f);
  const float z = s * s;
  float series = fma(z, 2.0f / 9, 2.0f / 7);
  series = fma(series, z, 2.0f / 5);
  series = fma(series, z, 2.0f / 3);
  const float half_square = 0.5f * f * f;
  const float tail = fma(s, fma(series, z, half_square), n * 1.42860677e-6f);
  const float value = fma(n, 0.693145752f, f - (half_square - tail));
  const float infinity = float_of(0x7f800000u);
  const float low = x == 0.0f ? -infinity : float_of(0x7fc00000u);
  const float high = x == infinity || x != x ? x : value;
  return x > 0.0f || x != x ? high : low;
}
TY_HD double log(double x) { return std::log(x); }

/// log(1 + x) within 2 ulp, also near 0.
TY_HD float log1p(float x) {
  const float u = 1.0f + x;
  const float lost = x - (u - 1.0f);  // the rounding error of the sum
  const float correction = lost / u;
  const float value = log(u) + correction;
  const bool edge = !(u > 0.0f) || u > 3.402823466e+38f;
  return edge ? log(u) : value;
}
TY_HD double log1p(double x) { return std::log1p(x); }

/// Hyperbolic tangent within 3 ulp: t / (t + 2) with t = e^(2|x|) - 1.
TY_HD float tanh(float x) {
  const float size = abs(x);
  const float t = expm1(2.0f * (size > 10.0f ? 10.0f : size));
  return __builtin_copysignf(t / (t + 2.0f), x);
}
TY_HD double tanh(double x) { return std::tanh(x); }

/// Error function within 2 ulp. Below 0.93 a polynomial for erf(x) / x - 1 in x^2 (relative error
/// 2e-8), above it one for -log(erfc(x)) (absolute error of erf 3e-9): both are interpolants at
/// Chebyshev nodes, computed with a 64-bit mantissa.
TY_HD float erf(float x) {
  const float size = abs(x);
  const float square = x * x;
  float small = fma(square, -0.0005967067333f, 0.004988858488f);
  small = fma(small, square, -0.02676396304f);
  small = fma(small, square, 0.1128175326f);
  small = fma(small, square, -0.3761248896f);
  small = fma(small, square, 0.1283791491f);
  small = fma(small, x, x);

  const float t = size > 4.0f ? 4.0f : size;
  float large = fma(t, -1.643569654e-6f, 4.617791279e-5f);
  large = fma(large, t, -0.000597743472f);
  large = fma(large, t, 0.004763575249f);
  large = fma(large, t, -0.0264310176f);
  large = fma(large, t, 0.1100944808f);
  large = fma(large, t, 0.6318145167f);
  large = fma(large, t, 1.130237616f);
  large = fma(large, t, -0.0003204415313f);
  large = __builtin_copysignf(1.0f - exp(-large), x);
  return size > 0.93f ? large : small;
}
TY_HD double erf(double x) { return std::erf(x); }

}  // namespace trainyard::math

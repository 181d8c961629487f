// Standard normal numbers from random words, the same on the CPU and on GPUs.
#pragma once

#include <cstdint>

#include "base/math.h"

namespace trainyard::math {

/// The quotient of two polynomials of degree 7 in x, coefficients from the lowest power up.
template <class T>
TY_HD T quotient(T x, const double (&above)[8], const double (&below)[8]) {
  T numerator = static_cast<T>(above[7]), denominator = static_cast<T>(below[7]);
  for (int i = 6; i >= 0; --i) {
    numerator = numerator * x + static_cast<T>(above[i]);
    denominator = denominator * x + static_cast<T>(below[i]);
  }
  return numerator / denominator;
}

/// The z below which a standard normal variable falls with probability p, for p in [2^-24,
/// 1 - 2^-24]. Wichura 1988, "Algorithm AS 241: the percentage points of the normal distribution",
/// PPND16 without its part for p below e^-25.
template <class T>
TY_HD T normal_quantile(T p) {
  constexpr double kCentreAbove[8] = {3.3871328727963666080,    1.3314166789178437745e+2,
                                      1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                      4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                      3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr double kCentreBelow[8] = {1,
                                      4.2313330701600911252e+1,
                                      6.8718700749205790830e+2,
                                      5.3941960214247511077e+3,
                                      2.1213794301586595867e+4,
                                      3.9307895800092710610e+4,
                                      2.8729085735721942674e+4,
                                      5.2264952788528545610e+3};
  constexpr double kTailAbove[8] = {1.42343711074968357734,    4.63033784615654529590,
                                    5.76949722146069140550,    3.64784832476320460504,
                                    1.27045825245236838258,    2.41780725177450611770e-1,
                                    2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr double kTailBelow[8] = {1,
                                    2.05319162663775882187,
                                    1.67638483018380384940,
                                    6.89767334985100004550e-1,
                                    1.48103976427480074590e-1,
                                    1.51986665636164571966e-2,
                                    5.47593808499534494600e-4,
                                    1.05075007164441684324e-9};
  // Both are computed and one is chosen, so that neighbours become vectors.
  const T q = p - T(0.5);
  const T centre = q * quotient(static_cast<T>(0.180625) - q * q, kCentreAbove, kCentreBelow);
  const T r = sqrt(-log(q < 0 ? p : T(1) - p));
  const T size = quotient(r - static_cast<T>(1.6), kTailAbove, kTailBelow);
  const T tail = q < 0 ? -size : size;
  return abs(q) <= static_cast<T>(0.425) ? centre : tail;
}

/// A standard normal number from 23 bits of a random word: within +-5.4, exactly symmetric.
template <class T>
TY_HD T normal_of(std::uint32_t word) {
  // (k + 1/2) / 2^23 is exact in float, and so are its distances from 1/2 and 1.
  return normal_quantile((static_cast<T>(word >> 9) + T(0.5)) * static_cast<T>(0x1p-23));
}

}  // namespace trainyard::math

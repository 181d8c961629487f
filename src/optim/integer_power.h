// Powers whose exponent is a number of steps.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// base^exponent by squaring: a fixed sequence of products, so every device gives the same bits.
/// The relative error is below exponent * 2^-52; where that matters the value has long vanished.
TY_HD double integer_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace trainyard

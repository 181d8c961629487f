// Two sums that are taken together.
#pragma once

#include "base/host_device.h"

namespace trainyard {

/// Two sums in double: of the gradients of two parameters, or of x and x * x. Zeros when
/// value-initialised.
struct PairSum {
  double first, second;
  TY_HD PairSum& operator+=(const PairSum& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

}  // namespace trainyard

// The sum of gradients over the micro-batches of a step.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// sum = gradients for the first micro-batch, sum += gradients for the others.
template <class T>
struct AddGradients {
  T* sum;
  const T* gradients;
  bool first;

  TY_HD void operator()(std::int64_t i) const {
    sum[i] = first ? gradients[i] : sum[i] + gradients[i];
  }
};

}  // namespace trainyard

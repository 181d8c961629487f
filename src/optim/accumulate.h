// The sum of gradients over the micro-batches of a step.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "optim/micro_batches.h"

namespace trainyard {

/// sum = gradients for the first micro-batch, sum += gradients for the others. With MicroBatches
/// those that do not count are left out, and the first is the first that does.
template <class T>
struct AddGradients {
  T* sum;
  const T* gradients;
  bool first;
  const MicroBatches* of_step = nullptr;

  TY_HD void operator()(std::int64_t i) const {
    if (of_step != nullptr && !of_step->counts) return;
    const bool begins = of_step != nullptr ? of_step->count == 1 : first;
    sum[i] = begins ? gradients[i] : sum[i] + gradients[i];
  }
};

}  // namespace trainyard

// Rows of a batch, stored by the indices of its samples.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// rows[index of sample n] = row n of a batch, for the valid samples. An element is one of
/// samples * width: launcher.each(samples * width, SampleRows<T>{...}).
template <class T>
struct SampleRows {
  const T* values;                   // [samples, width]
  const std::int64_t* sample_index;  // [samples], into the data set
  std::int64_t width;
  const StepState* state;
  float* rows;  // [size of the set, width]
  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t n = i / width;
    if (n < state->valid) rows[sample_index[n] * width + i % width] = static_cast<float>(values[i]);
  }
};

}  // namespace trainyard

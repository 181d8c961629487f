// Sums of per-sample results over a batch.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Adds the sum of values[0 .. state->valid) to *total, in double and in the Team's fixed order.
/// Launch with one row: launcher.rows(1, MetricSum<T>{...}). Later samples are excluded by
/// selection.
template <class T>
struct MetricSum {
  const T* values;  // [samples], losses or metrics of one batch
  std::int64_t samples;
  const StepState* state;
  double* total;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t /*row*/) const {
    const double sum = team.template sum<double>(samples, [&](std::int64_t i) {
      return i < state->valid ? static_cast<double>(values[i]) : 0.0;
    });
    team.once([&] { *total += sum; });
  }
};

}  // namespace trainyard

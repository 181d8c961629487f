// Sums of results over a batch.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Adds the sums of values[0 .. state->valid) to `totals`, in double and in the Team's fixed order.
/// A row is one of `width` numbers per sample: launcher.rows(width, MetricSum<T>{...}). Later
/// samples, and those of weight 0, are excluded by selection. With `positions` > 1, each of a
/// sample's positions takes the place of a sample.
template <class T>
struct MetricSum {
  const T* values;  // [samples, width], losses or metrics of one batch
  std::int64_t samples;
  std::int64_t width;
  const StepState* state;
  const float* weights;  // [samples]; null: all count
  double* totals;        // [width]
  std::int64_t positions = 1;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const double sum = team.template sum<double>(samples, [&](std::int64_t i) {
      const bool counts = i < state->valid * positions && (weights == nullptr || weights[i] != 0);
      return counts ? static_cast<double>(values[i * width + row]) : 0.0;
    });
    team.once([&] { totals[row] += sum; });
  }
};

/// Adds the sum of the weights, and the number of those that are not 0, to `totals`:
/// launcher.rows(2, WeightSum{...}).
struct WeightSum {
  const float* weights;  // [samples]
  std::int64_t samples;
  const StepState* state;
  double* totals;  // [2]
  std::int64_t positions = 1;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const double sum = team.template sum<double>(samples, [&](std::int64_t i) {
      const double weight = i < state->valid * positions ? static_cast<double>(weights[i]) : 0.0;
      return row == 0 ? weight : weight != 0 ? 1.0 : 0.0;
    });
    team.once([&] { totals[row] += sum; });
  }
};

}  // namespace trainyard

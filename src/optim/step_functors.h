// How the state that kernels read goes from update to update, without the host. Each functor is of
// one element.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Learning rates of the next updates, from the host's schedule.
struct RateWindow {
  static constexpr std::int64_t kRates = 1024;
  std::int64_t first = 0;  // the update (StepState::tried) that rates[0] is for
  double rates[kRates] = {};
};

/// Sets the rate of the update that begins.
struct BeginUpdate {
  StepState* state;
  const RateWindow* window;

  TY_HD void operator()(std::int64_t /*unused*/) const {
    state->rate = window->rates[state->tried - window->first];
  }
};

/// What one update measured, as it lies in device memory: doubles, the loss and then the metrics
/// last.
struct ResultRow {
  enum Column : std::int64_t { rate, gradient_norm, withheld, loss };
};

/// Ends an update: keeps its results until the host reads them, clears the sums for the next and
/// counts.
struct EndUpdate {
  StepState* state;
  double* current;  // [width], see ResultRow
  double* rows;     // [capacity][width], filled in turn
  std::int64_t width;
  std::int64_t capacity;

  TY_HD void operator()(std::int64_t /*unused*/) const {
    current[ResultRow::rate] = state->rate;
    current[ResultRow::withheld] = state->nonfinite_step >= 0 ? 1 : 0;
    double* const row = rows + state->tried % capacity * width;
    for (std::int64_t i = 0; i < width; ++i) {
      row[i] = current[i];
      current[i] = 0;
    }
    ++state->tried;
    if (state->nonfinite_step < 0) ++state->step;
  }
};

}  // namespace trainyard

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

/// The factor of the loss, and so of all gradients until they are unscaled.
struct LossScale {
  double start = 1;
  bool dynamic = false;  // halved by an overflow, doubled after `growth` good updates
  std::int64_t growth = 2000;
  static constexpr double kLeast = 1;  // gradients that overflow without a scale are no overflow
  static constexpr double kMost = 1 << 24;
};

/// Sets the rate and the gradients' scale of the update that begins.
struct BeginUpdate {
  StepState* state;
  const RateWindow* window;
  double samples;  // of an update, all replicas and micro-steps together

  TY_HD void operator()(std::int64_t /*unused*/) const {
    state->rate = window->rates[state->tried - window->first];
    state->gradient_scale = state->loss_scale / samples;
  }
};

/// What one update measured, as it lies in device memory: doubles, the loss and then the metrics
/// last.
struct ResultRow {
  enum Column : std::int64_t { rate, gradient_norm, loss_scale, withheld, skipped, loss };
};

/// Ends an update: keeps its results until the host reads them, clears the sums for the next,
/// counts, and follows a dynamic loss scale: an update that overflowed is skipped, not the end.
struct EndUpdate {
  StepState* state;
  double* current;  // [width], see ResultRow
  double* rows;     // [capacity][width], filled in turn
  std::int64_t width;
  std::int64_t capacity;
  LossScale scale;

  TY_HD void operator()(std::int64_t /*unused*/) const {
    const bool finite = state->nonfinite_step < 0;
    const bool skip = !finite && scale.dynamic && state->loss_scale > LossScale::kLeast;
    current[ResultRow::rate] = state->rate;
    current[ResultRow::loss_scale] = state->loss_scale;
    current[ResultRow::withheld] = finite || skip ? 0 : 1;
    current[ResultRow::skipped] = skip ? 1 : 0;
    double* const row = rows + state->tried % capacity * width;
    for (std::int64_t i = 0; i < width; ++i) {
      row[i] = current[i];
      current[i] = 0;
    }
    ++state->tried;
    if (finite) ++state->step;
    if (skip) {
      state->nonfinite_step = -1;
      state->loss_scale /= 2;
      state->good_steps = 0;
    }
    if (finite && scale.dynamic && ++state->good_steps == scale.growth) {
      if (state->loss_scale < LossScale::kMost) state->loss_scale *= 2;
      state->good_steps = 0;
    }
  }
};

}  // namespace trainyard

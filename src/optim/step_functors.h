// Updates of the state that kernels read, between steps and without the host. Launch each functor
// with one element.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Learning rates of the next steps, from the host's schedule, and their pulls (lookahead.h).
struct RateWindow {
  static constexpr std::int64_t kRates = 1024;
  std::int64_t first = 0;  // the step (StepState::tried) that rates[0] is for
  double rates[kRates] = {};
  double pulls[kRates] = {};  // not read without lookahead
};

/// The factor on the loss, and so on all gradients until they are unscaled.
struct LossScale {
  double start = 1;
  bool dynamic = false;  // halved after an overflow, doubled after `growth` good steps
  std::int64_t growth = 2000;
  static constexpr double kLeast = 1;  // an overflow at this scale does not come from scaling
  static constexpr double kMost = 1 << 24;
};

/// Sets the learning rate and gradient scale of the step that begins. A window that ends before it
/// gives no rate: the host begins that step with the next window.
struct BeginUpdate {
  StepState* state = nullptr;
  const RateWindow* window = nullptr;
  double samples = 1;  // per step, over all ranks and micro-batches

  TY_HD void operator()(std::int64_t /*unused*/) const {
    const std::int64_t at = state->tried - window->first;
    if (at < RateWindow::kRates) state->rate = window->rates[at];
    state->gradient_scale = state->loss_scale / samples;
  }
};

/// The results of one step in device memory: doubles, ending with the loss and then the metrics.
struct ResultRow {
  enum Column : std::int64_t { rate, gradient_norm, loss_scale, withheld, skipped, loss };
};

/// Ends a step: stores its results until the host reads them, clears the sums for the next step,
/// counts it, and adjusts a dynamic loss scale: a step that overflowed is skipped and does not end
/// the run. So is one without a sample that counts, which FinishGradients has marked as skipped. At
/// last it begins the next step.
struct EndUpdate {
  StepState* state = nullptr;
  double* current = nullptr;  // [width], see ResultRow
  double* rows = nullptr;     // [capacity][width], filled in turn
  std::int64_t width = 0;
  std::int64_t capacity = 0;
  LossScale scale;
  double time_decay = 0;  // Keras's decay: lr / (1 + time_decay * finished steps)
  BeginUpdate next = {};  // without a window nothing begins

  TY_HD void operator()(std::int64_t /*unused*/) const {
    const bool finite = state->nonfinite_step < 0;
    const bool empty = current[ResultRow::skipped] != 0;
    const bool overflow =
        !finite && !empty && scale.dynamic && state->loss_scale > LossScale::kLeast;
    const bool skip = empty || overflow;
    current[ResultRow::rate] = state->rate / (1.0 + time_decay * static_cast<double>(state->step));
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
    if (skip) state->nonfinite_step = -1;
    if (overflow) {
      state->loss_scale /= 2;
      state->good_steps = 0;
    }
    if (finite && scale.dynamic && ++state->good_steps == scale.growth) {
      if (state->loss_scale < LossScale::kMost) state->loss_scale *= 2;
      state->good_steps = 0;
    }
    if (next.window != nullptr) next(0);
  }
};

}  // namespace trainyard

// The arithmetic between the all-reduce of gradients and the optimizer step.
#pragma once

#include <cstdint>

#include "base/math.h"
#include "kernels/chunk.h"
#include "optim/blocks.h"

namespace trainyard {

/// Chunks whose partial sums are added in one run; fixed, so that sums do not depend on threads.
inline constexpr std::int64_t kChunksPerPartial = 256;

/// Factor that clips a gradient of this norm to `maximum`: maximum / norm if the norm is larger,
/// else exactly 1 (also for NaN).
[[nodiscard]] TY_HD double clip_factor(double norm, double maximum) {
  return norm > maximum ? maximum / norm : 1.0;
}

/// One row per chunk: gradient += 2 * l2 * w.
template <class T>
struct AddL2 {
  const T* weights;
  T* gradients;
  const Segment* segments;
  const std::int32_t* segment_of_chunk;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t chunk) const {
    const Segment segment = segments[segment_of_chunk[chunk]];
    if (segment.l2 == 0 || segment.frozen != 0) return;
    const T factor = static_cast<T>(2.0 * segment.l2);
    const T* const w = weights + chunk * kChunk;
    T* const g = gradients + chunk * kChunk;
    team.each(kChunk, [=](std::int64_t i) { g[i] += factor * w[i]; });
  }
};

/// One row per run of kChunksPerPartial chunks: partial[row] = sum of factor(chunk) * x^2.
template <class T>
struct SquareSum {
  const T* values;
  const Segment* segments;  // null: factor 1, else l2
  const std::int32_t* segment_of_chunk;
  std::int64_t chunks;
  double* partial;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t first = row * kChunksPerPartial;
    const std::int64_t left = chunks - first;
    const std::int64_t count = (left < kChunksPerPartial ? left : kChunksPerPartial) * kChunk;
    const T* const x = values + first * kChunk;
    const Segment* const s = segments;
    const std::int32_t* const of = segment_of_chunk + first;
    const double sum = team.template sum<double>(count, [=](std::int64_t i) {
      const double value = static_cast<double>(x[i]);
      return (s == nullptr ? 1.0 : s[of[i / kChunk]].l2) * value * value;
    });
    double* const out = partial + row;
    team.once([=] { *out = sum; });
  }
};

/// Adds the partial sums in order; they are few (one per 16,384 elements), so one lane does it.
/// Launch with one element.
struct SumOfPartials {
  const double* partial;
  std::int64_t count;
  bool root;  // take the square root of the sum
  double* out;

  TY_HD void operator()(std::int64_t /*unused*/) const {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += partial[i];
    *out = root ? math::sqrt(sum) : sum;
  }
};

/// gradient /= the loss scale, which is a power of two, so nothing is rounded.
template <class T>
struct Unscale {
  T* gradients;
  const StepState* state;
  TY_HD void operator()(std::int64_t i) const {
    gradients[i] *= static_cast<T>(1.0 / state->loss_scale);
  }
};

/// gradient *= samples / *weights: from the mean over samples to that over their weights, whose sum
/// over all ranks is read on the device. Without weights there is no gradient: 0.
template <class T>
struct DivideByWeights {
  T* gradients;
  double samples;
  const double* weights;
  TY_HD void operator()(std::int64_t i) const {
    gradients[i] *= static_cast<T>(*weights > 0 ? samples / *weights : 0.0);
  }
};

/// gradient *= clip_factor(*norm, maximum); the norm is read on the device.
template <class T>
struct ClipGradients {
  T* gradients;
  const double* norm;
  double maximum;
  TY_HD void operator()(std::int64_t i) const {
    gradients[i] *= static_cast<T>(clip_factor(*norm, maximum));
  }
};

/// Marks the step as the first non-finite one if *value (a loss or a norm) is not finite and none
/// was marked before. Launch with one element.
struct NoteNonfinite {
  StepState* state;
  const double* value;
  TY_HD void operator()(std::int64_t /*unused*/) const {
    if (!math::is_finite(*value) && state->nonfinite_step < 0) state->nonfinite_step = state->step;
  }
};

}  // namespace trainyard

// Processing of the flat gradient block between the all-reduce and the optimizer step, on any
// launcher.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "optim/blocks.h"
#include "optim/gradient_functors.h"

namespace trainyard {

/// Doubles of scratch that the sums below need.
[[nodiscard]] constexpr std::int64_t sum_scratch(std::int64_t chunks) {
  return (chunks + kChunksPerPartial - 1) / kChunksPerPartial;
}

/// True if a segment has an l2 term, so that add_l2 and regularisation_loss have work to do.
[[nodiscard]] inline bool has_l2(std::span<const Segment> segments) {
  return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.l2 != 0; });
}

/// Calls f with a zero of an arithmetic type: f64 or f32.
template <class F>
void with_arithmetic(DType type, const F& f) {
  type == DType::f64 ? f(double{}) : f(float{});
}

/// gradient += 2 * l2 * w, as Keras's l2 in the loss gives; frozen parameters are unchanged.
template <class Launcher>
void add_l2(const Launcher& launcher, const UpdateBlocks& blocks) {
  with_arithmetic(blocks.type, [&](auto zero) {
    using T = decltype(zero);
    launcher.rows(blocks.chunks,
                  AddL2<T>{static_cast<const T*>(blocks.weights), static_cast<T*>(blocks.gradients),
                           blocks.segments, blocks.segment_of_chunk});
  });
}

/// Partial sums of squares over runs of chunks, in double, in a fixed order: of the gradients, or
/// of the weights with each parameter's l2 coefficient. `scratch` holds sum_scratch(chunks)
/// doubles.
template <class Launcher>
void square_sums(const Launcher& launcher, const UpdateBlocks& blocks, const void* values,
                 const Segment* segments, std::span<double> scratch) {
  TY_CHECK(static_cast<std::int64_t>(scratch.size()) >= sum_scratch(blocks.chunks),
           "scratch for a sum over the flat block is too small");
  with_arithmetic(blocks.type, [&](auto zero) {
    using T = decltype(zero);
    launcher.rows(sum_scratch(blocks.chunks),
                  SquareSum<T>{static_cast<const T*>(values), segments, blocks.segment_of_chunk,
                               blocks.chunks, scratch.data()});
  });
}

/// Writes the sum of l2 * w^2 over all parameters to `sum`, in double, in a fixed order. Frozen
/// parameters count, as in Keras. `scratch` and `sum` are in memory that the launcher's functors
/// can write.
template <class Launcher>
void regularisation_loss(const Launcher& launcher, const UpdateBlocks& blocks,
                         std::span<double> scratch, double* sum) {
  square_sums(launcher, blocks, blocks.weights, blocks.segments, scratch);
  launcher.each(1, SumOfPartials{scratch.data(), sum_scratch(blocks.chunks), false, sum});
}

/// Writes the 2-norm of the whole gradient block to `norm` in the same way. NaN and infinity
/// propagate.
template <class Launcher>
void gradient_norm(const Launcher& launcher, const UpdateBlocks& blocks, std::span<double> scratch,
                   double* norm) {
  square_sums(launcher, blocks, blocks.gradients, nullptr, scratch);
  launcher.each(1, SumOfPartials{scratch.data(), sum_scratch(blocks.chunks), true, norm});
}

/// Divides the gradient block by the loss scale of its state.
template <class Launcher>
void unscale(const Launcher& launcher, const UpdateBlocks& blocks) {
  with_arithmetic(blocks.type, [&](auto zero) {
    using T = decltype(zero);
    launcher.each(blocks.chunks * kChunk,
                  Unscale<T>{static_cast<T*>(blocks.gradients), blocks.state});
  });
}

/// Makes the mean over `samples` that over the samples' weights, whose sum *weights is read on the
/// device.
template <class Launcher>
void divide_by_weights(const Launcher& launcher, const UpdateBlocks& blocks, double samples,
                       const double* weights) {
  with_arithmetic(blocks.type, [&](auto zero) {
    using T = decltype(zero);
    launcher.each(blocks.chunks * kChunk,
                  DivideByWeights<T>{static_cast<T*>(blocks.gradients), samples, weights});
  });
}

/// Multiplies the gradient block by clip_factor(*norm, maximum); the norm is read on the device.
template <class Launcher>
void clip_gradients(const Launcher& launcher, const UpdateBlocks& blocks, const double* norm,
                    double maximum) {
  with_arithmetic(blocks.type, [&](auto zero) {
    using T = decltype(zero);
    launcher.each(blocks.chunks * kChunk,
                  ClipGradients<T>{static_cast<T*>(blocks.gradients), norm, maximum});
  });
}

/// Marks the step in `state` as the first non-finite one if *value (a loss or a norm) is not finite
/// and none was marked before.
template <class Launcher>
void note_nonfinite(const Launcher& launcher, StepState* state, const double* value) {
  launcher.each(1, NoteNonfinite{state, value});
}

}  // namespace trainyard

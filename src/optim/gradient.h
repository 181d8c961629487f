// What happens to the flat gradient block between the sum over replicas and the update.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/launch.h"
#include "optim/optimizer.h"

namespace trainyard {

/// Chunks whose partial sums are added in one run; fixed, so that sums do not depend on threads.
inline constexpr std::int64_t kChunksPerPartial = 256;

/// Doubles of scratch that the sums below need.
[[nodiscard]] constexpr std::int64_t sum_scratch(std::int64_t chunks) {
  return (chunks + kChunksPerPartial - 1) / kChunksPerPartial;
}

/// True if a segment has an l2 term, so that add_l2 and regularisation_loss have work.
[[nodiscard]] bool has_l2(std::span<const Segment> segments);

/// gradient += 2 * l2 * w, as Keras's l2 in the loss gives it; frozen parameters are left alone.
void add_l2(const CpuLauncher& launcher, const UpdateBlocks& blocks);

/// Sum of l2 * w^2 over all parameters, in double, in a fixed order. `scratch` holds
/// sum_scratch(chunks) doubles. Frozen parameters count, as in Keras.
[[nodiscard]] double regularisation_loss(const CpuLauncher& launcher, const UpdateBlocks& blocks,
                                         std::span<double> scratch);

/// Writes the 2-norm of the whole gradient block to `norm`, in double, in a fixed order. NaN and
/// infinity are kept.
void gradient_norm(const CpuLauncher& launcher, const UpdateBlocks& blocks,
                   std::span<double> scratch, double* norm);

/// Factor that clips a gradient of this norm to `maximum`: maximum / norm where it is larger, else
/// exactly 1 (also for NaN).
[[nodiscard]] TY_HD double clip_factor(double norm, double maximum) {
  return norm > maximum ? maximum / norm : 1.0;
}

/// Multiplies the gradient block by clip_factor(*norm, maximum); the norm is read on the device.
void clip_gradients(const CpuLauncher& launcher, const UpdateBlocks& blocks, const double* norm,
                    double maximum);

/// Marks the step in `state` as the first non-finite one if `value` (a loss or a norm) is not
/// finite and none was marked before.
void note_nonfinite(StepState& state, double value);

}  // namespace trainyard

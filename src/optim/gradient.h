// Processing of the flat gradient block between the all-reduce and the optimizer step, on any
// launcher.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "optim/blocks.h"
#include "optim/gradient_functors.h"

namespace trainyard {

/// True if a segment has an l2 term, so that there is a regularisation loss.
[[nodiscard]] inline bool has_l2(std::span<const Segment> segments) {
  return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.l2 != 0; });
}

/// Calls f with a zero of an arithmetic type: f64 or f32.
template <class F>
void with_arithmetic(DType type, const F& f) {
  type == DType::f64 ? f(double{}) : f(float{});
}

/// Makes the sums of gradients those that the optimizer's rule reads, with their norm: one launch,
/// see FinishGradients. `blocks` has all runs.
template <class Launcher>
void finish_gradients(const Launcher& launcher, const UpdateBlocks& blocks,
                      const GradientFinish& task) {
  with_arithmetic(blocks.type, [&](auto zero) {
    using T = decltype(zero);
    launcher.finished_rows(
        blocks.run_count + task.biased_count + task.results.table.columns(),
        FinishGradients<T>{static_cast<const T*>(blocks.weights), static_cast<T*>(blocks.gradients),
                           blocks.segments, blocks.runs, blocks.run_count, blocks.chunks, task},
        task.sums.finished);
  });
}

/// Writes the sum of l2 * w^2 over all parameters to `loss`. All memory is the launcher's, and
/// `blocks` has all runs.
template <class Launcher>
void regularisation_loss(const Launcher& launcher, const UpdateBlocks& blocks, const RunSums& sums,
                         double* loss) {
  with_arithmetic(blocks.type, [&](auto zero) {
    using T = decltype(zero);
    launcher.finished_rows(
        blocks.run_count,
        RegularisationLoss<T>{static_cast<const T*>(blocks.weights), blocks.segments, blocks.runs,
                              blocks.run_count, sums, loss},
        sums.finished);
  });
}

}  // namespace trainyard

// Runs the image functors in the calling thread: each worker owns its sample, so nothing is shared.
#pragma once

#include "data/image_functors.h"
#include "kernels/launch.h"

namespace trainyard {

template <class F>
void run_rows(std::int64_t rows, const F& functor) {
  for (std::int64_t row = 0; row < rows; ++row) functor(CpuTeam{}, row);
}

/// An augmentation of an image with `channels`, from `in` to `out`.
inline void run_step(const SpatialStep& step, std::int64_t channels, const float* in, float* out) {
  run_rows(channels * step.out_h, SpatialRows{step, in, out});
}

/// A preprocessing step of an image [channels, plane], in place.
inline void run_step(const PixelStep& step, std::int64_t channels, std::int64_t plane,
                     float* image) {
  run_rows(channels, PixelRows{step, image, plane});
}

}  // namespace trainyard

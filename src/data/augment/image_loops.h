// Runs the image functors in the calling thread: each worker owns its sample, so nothing is shared.
#pragma once

#include "data/augment/sample_program.h"
#include "data/augment/spatial_transform.h"
#include "launcher/launch.h"

namespace trainyard {

/// An augmentation of an image with `channels`, from `in` to `out`. One that resizes with a filter
/// allocates.
void run_step(const SpatialTransform& step, std::int64_t channels, const float* in, float* out);

/// A program of one sample.
inline void run_program(const SampleProgram& program) { CpuLauncher(1).rows(1, program); }

}  // namespace trainyard

// Convolutions of 3x3 at stride 1, and their gradients of the input, by Winograd's minimal
// filtering.
//
// The folder winograd holds kernels of ours for AVX2 and AVX-512, and the choice between them and
// the direct form. Tiles are transformed, multiplied and transformed back in blocks that stay in
// the L2 cache. Each output is computed by one thread in one order: bits depend neither on the
// number of threads, nor on the batch, nor on AVX2 or AVX-512.
//
// Gains: ResNet-20 1020 images/s instead of 839, MiniGoogLeNet 183 instead of 153, Keras CNN 1903
// instead of 1644, on two threads in float32 (machine E; docs/results). None in bf16.
#pragma once

#include <memory>

#include "compute/conv/conv_step.h"
#include "compute/conv/winograd/kernels.h"

namespace trainyard::winograd {

/// True if make_winograd() supports the step: an output or a gradient of the input, 3x3, stride and
/// dilation 1, one group, margins of 0 to 2, both maps in blocks of 8 channels, or of 16 with
/// AVX-512.
[[nodiscard]] bool supports(const ConvStep& conv);

/// In units of 2^-24 of the root mean square of the outputs, errors have a root mean square of
/// about 3 for F(2x2, 3x3), 6 for F(4x2, 3x3) and 11 for F(4x4, 3x3), whatever the number of
/// channels (the direct form: 3.6 with AVX-512, 7 over 64 channels with AVX2);
/// tests/compute/rounding_model.h derives this.
[[nodiscard]] std::unique_ptr<Executor> make_winograd(const ConvStep& conv, Tile tile, int threads);

}  // namespace trainyard::winograd

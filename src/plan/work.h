// What a training step has to compute and to move, counted from its plan.
#pragma once

#include <cstddef>

#include "plan/plan.h"

namespace trainyard {

/// Floating-point operations of one run of `plan`: two a multiply-add of a convolution or dense
/// layer, for each of its steps (forward, gradient of the input, gradient of the parameters); all
/// else counts nothing. Pure.
[[nodiscard]] double flop_of(const Plan& plan);

/// Bytes that the steps of a training program read plus those that they write, each step for
/// itself, tensors as they are stored (type and padding). Counted are, once a step,
///   - the values and gradients that the step names: each that it reads, each that it writes, and a
///     sum's target both ways;
///   - parameters in forward steps, and in gradients of the input; there the reserve in their place
///     where forward kept one;
///   - gradients of parameters where they are written;
///   - the reserve and the batch's statistics in forward steps, the latter in gradients of the
///     input as well.
/// Not counted are workspaces, what a kernel reads twice, and the arrival of the batch. Pure.
[[nodiscard]] std::size_t bytes_moved(const Plan& plan);

/// Bytes that an update reads plus those that it writes, each block once each way: gradients and
/// the statistics of the batch are read; weights, `slots` blocks of optimizer state and running
/// statistics are read and written. Norm, L2 terms and clipping, which go over the gradients again,
/// are not counted. `type` is that of the blocks: f32 or f64. Pure.
[[nodiscard]] std::size_t update_bytes(const BlockLayout& blocks, DType type, int slots);

}  // namespace trainyard

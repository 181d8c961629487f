// The work of a training step, counted from its plan: operations and bytes moved.
#pragma once

#include <cstddef>

#include "plan/blocks.h"
#include "plan/plan.h"

namespace trainyard {

/// Floating-point operations of one run of `plan`: two per multiply-add of a convolution, dense or
/// recurrent layer, in each of its steps (forward, gradient of the input, gradient of the
/// parameters); a step that computes both gradients counts twice. Other ops are not counted. Pure.
[[nodiscard]] double flop_of(const Plan& plan);
/// FLOP of one of its steps.
[[nodiscard]] double flop_of(const Plan& plan, const PlanStep& step);

/// Bytes that the steps of a training program read plus those that they write, each step counted
/// separately, tensors as they are stored (type and padding). Counted, once per step, are
///   - the values and gradients that the step names: each read, each write, and the target of a sum
///     both ways;
///   - parameters in forward steps, and in gradients of the input; the latter read the reserve
///     instead if forward saved one;
///   - gradients of parameters when written;
///   - the reserve and the batch statistics in forward steps, the latter in gradients of the
///     input as well.
/// Not counted: workspaces, repeated reads of a kernel, and the copy of the batch. Pure.
[[nodiscard]] std::size_t bytes_moved(const Plan& plan);

/// Bytes that an optimizer step reads plus those that it writes, each block once each way:
/// gradients and batch statistics are read; weights, `slots` blocks of optimizer state and running
/// statistics are read and written. Norm, L2 terms and clipping, which read the gradients again,
/// are not counted. `type` is that of the blocks: f32 or f64. Pure.
[[nodiscard]] std::size_t update_bytes(const BlockLayout& blocks, DType type, int slots);

}  // namespace trainyard

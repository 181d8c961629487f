// Executors of functor ops and of copies between layouts, on the CPU's launchers: shared by all
// devices whose memory the processor can read.
#pragma once

#include "compute/executor.h"

namespace trainyard {

/// The executor of an op of compute/elementwise/all.h, stored in f64, f32, bf16 or f16; null for
/// other ops.
[[nodiscard]] ExecutorPtr make_functor_executor(const StepDescription& step);

/// Copies inputs[0] to outputs[0], any layouts of one shape; padding of the output is zeroed. From
/// f64, f32, i32 or u8 to f64 or f32, from f32, bf16 or f16 to any float type, and from i32 to i32
/// (labels).
[[nodiscard]] ExecutorPtr make_functor_reorder(const Layout& from, DType from_type,
                                               const Layout& to, DType to_type, int threads);
/// Adds inputs[0] to outputs[0], stored in f64, f32, bf16 or f16; the layouts may differ.
[[nodiscard]] ExecutorPtr make_functor_accumulate(const Layout& from, const Layout& to, DType type,
                                                  int threads);

// The lists of functors on the CPU's launcher, compiled separately, in the types that the CPU
// stores. Null if the op is in another list.
[[nodiscard]] ExecutorPtr make_activation_executor(const StepDescription& step);
[[nodiscard]] ExecutorPtr make_place_executor(const StepDescription& step);
[[nodiscard]] ExecutorPtr make_loss_executor(const StepDescription& step);
[[nodiscard]] ExecutorPtr make_other_executor(const StepDescription& step);

/// All lists, and the ops of channels.h, in ReferenceFloats, in plain loops.
[[nodiscard]] ExecutorPtr make_plain_functor(const StepDescription& step);
[[nodiscard]] ExecutorPtr make_plain_channels(const StepDescription& step);

}  // namespace trainyard

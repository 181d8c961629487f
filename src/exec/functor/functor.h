// Executors of functor ops and of copies between layouts, on the CPU launcher: the same for every
// device whose memory the processor can read.
#pragma once

#include <memory>

#include "exec/executor.h"

namespace trainyard {

/// The executor of an op of ops/functor_ops.h, in f32 or f64; null if the op is none of them.
[[nodiscard]] std::unique_ptr<Executor> make_functor_executor(const StepDescription& step);

/// Copies inputs[0] to outputs[0]: from f32, f64, i32 or u8 to f32 or f64, any layouts of one
/// shape; padding of the output is zeroed. Also i32 to i32 (labels).
[[nodiscard]] std::unique_ptr<Executor> make_functor_reorder(const Layout& from, DType from_type,
                                                             const Layout& to, DType to_type,
                                                             int threads);
/// Adds inputs[0] to outputs[0], in f32 or f64; the layouts may differ.
[[nodiscard]] std::unique_ptr<Executor> make_functor_accumulate(const Layout& from,
                                                                const Layout& to, DType type,
                                                                int threads);

}  // namespace trainyard

// Executors of functor ops and of copies between layouts, on the CPU's launchers: shared by all
// devices whose memory the processor can read.
#pragma once

#include <memory>

#include "compute/executor.h"

namespace trainyard {

/// The executor of an op of ops/functor_ops.h, stored in f64, f32, bf16 or f16; null for other ops.
[[nodiscard]] std::unique_ptr<Executor> make_functor_executor(const StepDescription& step);

/// Copies inputs[0] to outputs[0], any layouts of one shape; padding of the output is zeroed. From
/// f64, f32, i32 or u8 to f64 or f32, from f32, bf16 or f16 to any float type, and from i32 to i32
/// (labels).
[[nodiscard]] std::unique_ptr<Executor> make_functor_reorder(const Layout& from, DType from_type,
                                                             const Layout& to, DType to_type,
                                                             int threads);
/// Adds inputs[0] to outputs[0], stored in f64, f32, bf16 or f16; the layouts may differ.
[[nodiscard]] std::unique_ptr<Executor> make_functor_accumulate(const Layout& from,
                                                                const Layout& to, DType type,
                                                                int threads);

}  // namespace trainyard

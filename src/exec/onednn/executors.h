// The makers of the CPU's executors, one per op: oneDNN's, and of batch norm and maxima ours.
#pragma once

#include <memory>

#include "exec/executor.h"
#include "exec/onednn/primitives.h"

namespace trainyard::onednn {

[[nodiscard]] std::unique_ptr<Executor> make_conv(const LibraryPtr& library,
                                                  const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_pool(const LibraryPtr& library,
                                                  const StepDescription& step);
/// Null unless it is the maximum of windows of at most 256 pixels in channel blocks.
[[nodiscard]] std::unique_ptr<Executor> make_max_pool(const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_bn(const LibraryPtr& library,
                                                const StepDescription& step);
/// Of one type, f32 or bf16.
[[nodiscard]] std::unique_ptr<Executor> make_copy(const LibraryPtr& library, const Layout& from,
                                                  const Layout& to, DType type, int threads);

}  // namespace trainyard::onednn

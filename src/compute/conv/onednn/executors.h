// The makers of executors of convolutions and copies, which are oneDNN's, and of batch norm and
// pooling, which are ours, over channel blocks.
#pragma once

#include <memory>

#include "compute/conv/onednn/primitives.h"
#include "compute/executor.h"

namespace trainyard::onednn {

[[nodiscard]] std::unique_ptr<Executor> make_conv(const LibraryPtr& library,
                                                  const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_bn(const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_pool(const StepDescription& step);
/// Of one type, f32 or bf16.
[[nodiscard]] std::unique_ptr<Executor> make_copy(const LibraryPtr& library, const Layout& from,
                                                  const Layout& to, DType type, int threads);

}  // namespace trainyard::onednn

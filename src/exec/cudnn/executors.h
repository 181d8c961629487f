// The makers of the executors that libraries serve on GPUs, one an op, and of those of the kernels
// beside them.
#pragma once

#include <memory>

#include "exec/cudnn/context.h"
#include "exec/executor.h"

namespace trainyard::cudnn {

[[nodiscard]] std::unique_ptr<Executor> make_conv(const ContextPtr& context,
                                                  const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_dense(const ContextPtr& context,
                                                   const StepDescription& step);
/// Batch norm or pooling, from their functors on the CUDA launcher; null for other ops.
[[nodiscard]] std::unique_ptr<Executor> make_channels(cudaStream_t stream,
                                                      const StepDescription& step);

}  // namespace trainyard::cudnn

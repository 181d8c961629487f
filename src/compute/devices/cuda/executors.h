// The makers of the GPU executors that use libraries, one per op.
#pragma once

#include <memory>

#include "compute/devices/cuda/context.h"
#include "compute/executor.h"

namespace trainyard::cudnn {

[[nodiscard]] std::unique_ptr<Executor> make_conv(const ContextPtr& context,
                                                  const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_dense(const ContextPtr& context,
                                                   const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_recurrent(const ContextPtr& context,
                                                       const StepDescription& step);

}  // namespace trainyard::cudnn

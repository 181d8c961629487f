// The executors of a GPU that counts: which functors and which calls of libraries each step
// enqueues.
#pragma once

#include <memory>

#include "compute/executor.h"
#include "counted/launch_log.h"
#include "device/device.h"

namespace trainyard::counted {

/// For a GPU's plan (cuda_target()), as exec/cudnn makes them. An engine is one node; none adds a
/// convolution's bias, and all add to a gradient where the step does. Log, device and queue, those
/// of the same GPU, must outlive them.
[[nodiscard]] std::unique_ptr<ExecutorFactory> make_counted_executors(LaunchLog& log,
                                                                      Device& device, Queue& queue);

// The parts of the factory. Those of functors and channels are null for other ops.
[[nodiscard]] std::unique_ptr<Executor> make_counted_functor(LaunchLog& log,
                                                             const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_counted_channels(LaunchLog& log,
                                                              const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_counted_recurrent(LaunchLog& log,
                                                               const StepDescription& step);
/// Of a step with StepForm::sums_layer_bias().
[[nodiscard]] std::unique_ptr<Executor> make_counted_relu_bias(LaunchLog& log,
                                                               const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_counted_conv(LaunchLog& log,
                                                          const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_counted_dense(LaunchLog& log,
                                                           const StepDescription& step);

}  // namespace trainyard::counted

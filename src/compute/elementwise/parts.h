// The lists of functor ops on the CPU's launcher, in CpuFloats, compiled separately. Null if the op
// is in another list.
#pragma once

#include <memory>

#include "compute/executor.h"

namespace trainyard {

[[nodiscard]] std::unique_ptr<Executor> make_activation_executor(const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_place_executor(const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_loss_executor(const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_other_executor(const StepDescription& step);

/// All lists, and the ops of channels.h, in ReferenceFloats, in plain loops.
[[nodiscard]] std::unique_ptr<Executor> make_plain_functor(const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_plain_channels(const StepDescription& step);

}  // namespace trainyard

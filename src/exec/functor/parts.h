// The lists of functor ops on the CPU's launcher, compiled separately. Null if the op is in another
// list.
#pragma once

#include <memory>

#include "exec/executor.h"

namespace trainyard {

[[nodiscard]] std::unique_ptr<Executor> make_activation_executor(const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_place_executor(const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_loss_executor(const StepDescription& step);
[[nodiscard]] std::unique_ptr<Executor> make_other_executor(const StepDescription& step);

}  // namespace trainyard

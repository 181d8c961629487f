// The plain loops, one maker an op. Arithmetic in T: double where activations are stored so, else
// float.
#pragma once

#include <memory>

#include "exec/executor.h"

namespace trainyard::reference {

template <class T>
[[nodiscard]] std::unique_ptr<Executor> make_conv(const StepDescription& step);
template <class T>
[[nodiscard]] std::unique_ptr<Executor> make_dense(const StepDescription& step);
template <class T>
[[nodiscard]] std::unique_ptr<Executor> make_pool(const StepDescription& step);
template <class T>
[[nodiscard]] std::unique_ptr<Executor> make_bn(const StepDescription& step);

}  // namespace trainyard::reference

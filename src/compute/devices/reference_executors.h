// The plain loops, one maker per op. Arithmetic in T: double if activations are stored as double,
// else float.
#pragma once

#include "compute/executor.h"

namespace trainyard::reference {

template <class T>
[[nodiscard]] ExecutorPtr make_conv(const StepDescription& step);
template <class T>
[[nodiscard]] ExecutorPtr make_dense(const StepDescription& step);
template <class T>
[[nodiscard]] ExecutorPtr make_pool(const StepDescription& step);
template <class T>
[[nodiscard]] ExecutorPtr make_bn(const StepDescription& step);
template <class T>
[[nodiscard]] ExecutorPtr make_recurrent(const StepDescription& step);

}  // namespace trainyard::reference

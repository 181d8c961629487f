// Gradients of convolutions' weights by our kernels, whose bits are the same for any number of
// threads, with AVX2 and with AVX-512. That is what they are for: speed against oneDNN's was not
// measured alone (all of a step is 1.2 to 1.8 times PyTorch's, docs/results/log/cpu.md).
#pragma once

#include "compute/executor.h"

namespace trainyard::direct {

/// The backward_parameters of a convolution or a transposed one: the gradients of the weights and
/// of a convolution's bias, but not of a transposed one's.
[[nodiscard]] ExecutorPtr make_weight_gradient(const StepDescription& step);

}  // namespace trainyard::direct

#include "compute/elementwise/cuda/functors.h"

namespace trainyard::cuda {

ExecutorPtr make_functor_executor(cudaStream_t stream, const StepDescription& step) {
  ExecutorPtr executor = make_activation_executor(stream, step);
  if (executor == nullptr) executor = make_place_executor(stream, step);
  if (executor == nullptr) executor = make_loss_executor(stream, step);
  return executor != nullptr ? std::move(executor) : make_other_executor(stream, step);
}

}  // namespace trainyard::cuda

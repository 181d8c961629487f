#include "compute/elementwise/cuda/functors.h"
#include "compute/elementwise/functor_executor.h"
#include "launcher/cuda_launch.cuh"

namespace trainyard::cuda {

ExecutorPtr make_activation_executor(cudaStream_t stream, const StepDescription& step) {
  return make_listed_executor<GpuFloats>(step, CudaLauncher(stream),
                                         static_cast<const ActivationList*>(nullptr));
}

}  // namespace trainyard::cuda

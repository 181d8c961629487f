#include "exec/cudnn/kernels.h"
#include "exec/functor/channels.h"
#include "exec/functor/cuda/gpu_floats.h"
#include "kernels/cuda_launch.cuh"

namespace trainyard::cudnn {

std::unique_ptr<Executor> make_channels(cudaStream_t stream, const StepDescription& step) {
  return cuda::GpuFloat{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return make_channels_as<T>(step, CudaLauncher(stream));
  });
}

}  // namespace trainyard::cudnn

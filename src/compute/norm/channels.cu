#include "compute/devices/cuda/kernels.h"
#include "compute/norm/channels.h"
#include "launcher/cuda_launch.cuh"

namespace trainyard::cudnn {

ExecutorPtr make_channels(cudaStream_t stream, const StepDescription& step) {
  return GpuFloats{}(step.storage, [&]<class T>(std::type_identity<T>) {
    return make_channels_as<T>(step, CudaLauncher(stream));
  });
}

}  // namespace trainyard::cudnn

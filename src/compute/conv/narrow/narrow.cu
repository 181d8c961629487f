#include "compute/conv/narrow/narrow_step.h"
#include "compute/devices/cuda/kernels.h"
#include "launcher/cuda_launch.cuh"

namespace trainyard::cudnn {

void narrow_conv(cudaStream_t stream, DType type, const ConvStep& step, const void* from,
                 const void* weight, void* to) {
  const CudaLauncher launcher(stream);
  if (type == DType::bf16) {
    run_narrow<BFloat16>(launcher, step, from, weight, to);
  } else {
    run_narrow<Float16>(launcher, step, from, weight, to);
  }
}

}  // namespace trainyard::cudnn

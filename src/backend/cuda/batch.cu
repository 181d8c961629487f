#include "backend/cuda/batch.h"
#include "data/batch_launches_on.h"
#include "kernels/cuda_launch.cuh"

namespace trainyard::cuda {

std::unique_ptr<BatchLaunches> make_batch_launches(cudaStream_t stream) {
  return std::make_unique<BatchLaunchesOn<CudaLauncher>>(CudaLauncher(stream));
}

}  // namespace trainyard::cuda

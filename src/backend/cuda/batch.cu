#include "backend/cuda/launches.h"
#include "data/feed/batch_launches_on.h"
#include "launcher/cuda_launch.cuh"

namespace trainyard::cuda {

std::unique_ptr<BatchLaunches> make_batch_launches(cudaStream_t stream) {
  return std::make_unique<BatchLaunchesOn<CudaLauncher>>(CudaLauncher(stream));
}

}  // namespace trainyard::cuda

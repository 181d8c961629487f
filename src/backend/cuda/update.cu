#include "backend/cuda/launches.h"
#include "launcher/cuda_launch.cuh"
#include "optim/update_launches_on.h"

namespace trainyard::cuda {

std::unique_ptr<UpdateLaunches> make_update_launches(cudaStream_t stream) {
  return std::make_unique<UpdateLaunchesOn<CudaLauncher>>(CudaLauncher(stream));
}

}  // namespace trainyard::cuda

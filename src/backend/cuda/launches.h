// Launches of batches and of the optimizer step on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "data/feed/batch_launches.h"
#include "optim/update_launches.h"

namespace trainyard::cuda {

/// On a stream of the current device, which must outlive the launches.
[[nodiscard]] std::unique_ptr<UpdateLaunches> make_update_launches(cudaStream_t stream);

/// On a stream of the current device, which must outlive the launches.
[[nodiscard]] std::unique_ptr<BatchLaunches> make_batch_launches(cudaStream_t stream);

}  // namespace trainyard::cuda

// Plans on streams.
#pragma once

#include <cuda_runtime_api.h>

#include "descriptor.h"

namespace standin::cudnn {

/// The object behind a cudnnHandle_t.
struct Handle {
  int device;
  cudaStream_t stream = nullptr;
};

/// Enqueues one run of the plan on the handle's stream.
[[nodiscard]] cudnnStatus_t execute(const Handle& handle, const Descriptor& plan,
                                    const Descriptor& pack);

}  // namespace standin::cudnn

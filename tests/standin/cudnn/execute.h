// Plans on streams.
#pragma once

#include <cuda_runtime_api.h>

#include "descriptor.h"

namespace standin::cudnn {

/// What a cudnnHandle_t points to.
struct Handle {
  int device;
  cudaStream_t stream = nullptr;
};

/// Puts one run of the plan on the handle's stream.
[[nodiscard]] cudnnStatus_t execute(const Handle& handle, const Descriptor& plan,
                                    const Descriptor& pack);

}  // namespace standin::cudnn

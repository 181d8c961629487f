// Launches with attributes, and what kernels do in programmatic ones (PTX ISA, "griddepcontrol").
#pragma once

#include <cuda_runtime.h>

#include <nv/target>

#include "device/cuda/check.h"

namespace trainyard::probe {

/// Returns when all kernels before this one have ended, and what they wrote can be read.
__device__ inline void wait_for_predecessor() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("griddepcontrol.wait;" ::: "memory");))
}
/// The next kernel may begin, once all blocks have called this or ended.
__device__ inline void trigger_next() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("griddepcontrol.launch_dependents;" ::: "memory");))
}

struct Shape {
  unsigned blocks, threads;
  std::size_t shared = 0;  // bytes
  bool overlaps = false;   // may begin while its predecessor runs: its threads wait for that one
  unsigned cluster = 1;    // blocks
  bool cooperative = false;
};

template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, const Shape& shape, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  cudaLaunchAttribute attributes[3] = {};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared;
  config.stream = stream;
  config.attrs = attributes;
  const auto add = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
    attributes[config.numAttrs].id = id;
    return attributes[config.numAttrs++].val;
  };
  if (shape.overlaps) {
    add(cudaLaunchAttributeProgrammaticStreamSerialization).programmaticStreamSerializationAllowed =
        1;
  }
  if (shape.cluster > 1) {
    cudaLaunchAttributeValue& value = add(cudaLaunchAttributeClusterDimension);
    value.clusterDim.x = shape.cluster;
    value.clusterDim.y = value.clusterDim.z = 1;
  }
  if (shape.cooperative) add(cudaLaunchAttributeCooperative).cooperative = 1;
  if (shape.shared > 0) {
    TY_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shape.shared)));
    // A processor that has to divide its memory in another way for the next kernel must be idle.
    TY_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 cudaSharedmemCarveoutMaxShared));
  }
  const cudaError_t status = cudaLaunchKernelEx(&config, kernel, arguments...);
  if (status != cudaSuccess) cuda::ignore(cudaGetLastError());  // the next call must not find it
  cuda::check(status, "a launch");
}

}  // namespace trainyard::probe

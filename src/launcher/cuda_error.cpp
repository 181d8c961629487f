#include "launcher/cuda_error.h"

#include <cuda_runtime_api.h>

#include <limits>
#include <string>

#include "base/gpu_error.h"

namespace trainyard {

unsigned grid_of(std::int64_t blocks) {
  TY_CHECK(blocks > 0 && blocks <= std::numeric_limits<std::int32_t>::max(),
           "a launch has from 1 to 2^31 - 1 blocks");
  return static_cast<unsigned>(blocks);
}

void check_launch(const char* form) {
  const cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) return;
  throw_cuda_error({status, cudaGetErrorName(status), cudaGetErrorString(status)},
                   std::string("launching a kernel of the form '") + form + "'");
}

}  // namespace trainyard

#include "compute/copy/copy_executors.h"
#include "compute/elementwise/cuda/functors.h"
#include "launcher/cuda_launch.cuh"

namespace trainyard::cuda {

ExecutorPtr make_functor_reorder(cudaStream_t stream, const Layout& from, DType from_type,
                                 const Layout& to, DType to_type) {
  return make_reorder_on(CudaLauncher(stream), from, from_type, to, to_type);
}

ExecutorPtr make_functor_accumulate(cudaStream_t stream, const Layout& layout, DType type) {
  return make_accumulate_on(CudaLauncher(stream), layout, layout, type);
}

}  // namespace trainyard::cuda

#include "image_launches.h"
#include "kernels/cuda_launch.cuh"

namespace trainyard::test {

void launch_rows(cudaStream_t stream, std::int64_t rows, const TranslateRows& functor) {
  CudaLauncher(stream).rows(rows, functor);
}
void launch_rows(cudaStream_t stream, std::int64_t rows, const BilinearRows& functor) {
  CudaLauncher(stream).rows(rows, functor);
}
void launch_rows(cudaStream_t stream, std::int64_t rows, const FlipRows& functor) {
  CudaLauncher(stream).rows(rows, functor);
}
void launch_rows(cudaStream_t stream, std::int64_t rows, const ChannelAffineRows& functor) {
  CudaLauncher(stream).rows(rows, functor);
}
void launch_each(cudaStream_t stream, std::int64_t n, const ScaleEach& functor) {
  CudaLauncher(stream).each(n, functor);
}
void launch_each(cudaStream_t stream, std::int64_t n, const SubtractEach& functor) {
  CudaLauncher(stream).each(n, functor);
}

}  // namespace trainyard::test

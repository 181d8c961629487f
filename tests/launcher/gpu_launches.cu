#include "launcher/cuda_launch.cuh"
#include "launchers.h"

namespace trainyard::test {

void launch_each(cudaStream_t stream, std::int64_t n, const Wave& functor) {
  CudaLauncher(stream).each(n, functor);
}

void launch_rows(cudaStream_t stream, std::int64_t n, const RowSums& functor) {
  CudaLauncher(stream).rows(n, functor);
}

void launch_finished_rows(cudaStream_t stream, std::int64_t n, const TotalOfRows& functor,
                          std::uint32_t* finished) {
  CudaLauncher(stream).finished_rows(n, functor, finished);
}

void launch_columns(cudaStream_t stream, std::int64_t rows, std::int64_t columns,
                    const ColumnMoments& functor, Moments* partials, std::uint32_t* finished) {
  CudaLauncher(stream).columns(rows, columns, functor, partials, finished);
}

}  // namespace trainyard::test

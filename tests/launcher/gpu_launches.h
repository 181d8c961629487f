// The test functors on a GPU. Pointers are to its memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "functors.h"

namespace trainyard::test {

void launch_each(cudaStream_t stream, std::int64_t n, const Wave& functor);
void launch_rows(cudaStream_t stream, std::int64_t n, const RowSums& functor);
void launch_finished_rows(cudaStream_t stream, std::int64_t n, const TotalOfRows& functor,
                          std::uint32_t* finished);
void launch_columns(cudaStream_t stream, std::int64_t rows, std::int64_t columns,
                    const ColumnMoments& functor, Moments* partials, std::uint32_t* finished);

}  // namespace trainyard::test

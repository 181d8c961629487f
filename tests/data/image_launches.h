// The image functors on a GPU. Pointers lie in its memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "data/image_functors.h"

namespace trainyard::test {

void launch_rows(cudaStream_t stream, std::int64_t rows, const TranslateRows& functor);
void launch_rows(cudaStream_t stream, std::int64_t rows, const BilinearRows& functor);
void launch_rows(cudaStream_t stream, std::int64_t rows, const FlipRows& functor);
void launch_rows(cudaStream_t stream, std::int64_t rows, const ChannelAffineRows& functor);
void launch_each(cudaStream_t stream, std::int64_t n, const ScaleEach& functor);
void launch_each(cudaStream_t stream, std::int64_t n, const SubtractEach& functor);

}  // namespace trainyard::test

// Compiled for x86-64-v4.
#include "compute/conv/winograd/tile_block.h"
#include "compute/matmul/vectors.h"

namespace trainyard::winograd {

const Kernels& kernels_avx512(Tile tile) { return kernels_of_tile<product::Vector16>(tile); }

}  // namespace trainyard::winograd

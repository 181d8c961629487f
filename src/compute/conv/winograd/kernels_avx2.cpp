// Compiled for x86-64-v3.
#include "compute/conv/winograd/tile_block.h"
#include "compute/matmul/vectors.h"

namespace trainyard::winograd {

const Kernels& kernels_avx2(Tile tile) { return kernels_of_tile<product::Vector8>(tile); }

}  // namespace trainyard::winograd

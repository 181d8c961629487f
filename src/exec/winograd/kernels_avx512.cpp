// Compiled for x86-64-v4.
#include "exec/product/vectors.h"
#include "exec/winograd/tile_block.h"

namespace trainyard::winograd {

const Kernels& kernels_avx512(Tile tile) { return kernels_of_tile<product::Vector16>(tile); }

}  // namespace trainyard::winograd

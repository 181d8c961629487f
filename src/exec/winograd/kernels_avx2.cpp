// Compiled for x86-64-v3.
#include "exec/winograd/tile_block.h"
#include "exec/winograd/vectors.h"

namespace trainyard::winograd {

const Kernels& kernels_avx2(Tile tile) { return kernels_of_tile<Vector8>(tile); }

}  // namespace trainyard::winograd

// Compiled for x86-64-v4.
#include "exec/winograd/tile_block.h"
#include "exec/winograd/vectors.h"

namespace trainyard::winograd {

const Kernels& kernels_avx512(Tile tile) { return kernels_of_tile<Vector16>(tile); }

}  // namespace trainyard::winograd

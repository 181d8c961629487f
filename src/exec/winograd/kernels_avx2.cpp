// Compiled for x86-64-v3.
#include "exec/winograd/tile_block.h"
#include "exec/winograd/vectors.h"

namespace trainyard::winograd {

const Kernels& kernels_avx2(Tile tile) {
  static constexpr Kernels kTwo = kernels_of<Vector8, TwoOutputs>();
  static constexpr Kernels kFour = kernels_of<Vector8, FourOutputs>();
  return tile == Tile::two ? kTwo : kFour;
}

}  // namespace trainyard::winograd

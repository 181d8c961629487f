#include "conv_tile.cuh"
#include "launch.cuh"
#include "launches.h"

namespace trainyard::probe {
namespace {

/// All blocks compute the same, and write the same to one place.
template <int kChannels>
__global__ void __launch_bounds__(kTileThreads, 2)
    tile_kernel(const __grid_constant__ TileMemory memory, int repeats) {
  extern __shared__ Unit shared[];
  run_tile<BFloat16, kChannels>(shared, static_cast<const Unit*>(memory.map),
                                static_cast<const Unit*>(memory.weights), repeats, memory.sums);
}

template <int kChannels>
void launch_one(cudaStream_t stream, unsigned blocks, int repeats, const TileMemory& memory) {
  launch(stream,
         {.blocks = blocks, .threads = kTileThreads, .shared = TileShape<kChannels>::kBytes},
         tile_kernel<kChannels>, memory, repeats);
}

}  // namespace

void launch_tile(cudaStream_t stream, int channels, unsigned blocks, int repeats,
                 const TileMemory& memory) {
  switch (channels) {
    case 16:
      return launch_one<16>(stream, blocks, repeats, memory);
    case 32:
      return launch_one<32>(stream, blocks, repeats, memory);
    default:
      return launch_one<64>(stream, blocks, repeats, memory);
  }
}

}  // namespace trainyard::probe

#include "lane_maps.cuh"
#include "launch.cuh"
#include "launches.h"

namespace trainyard::probe {

void launch_lane_maps(cudaStream_t stream, unsigned warps, const std::uint32_t* from,
                      std::uint32_t* to) {
  launch(stream, {.blocks = warps, .threads = 32}, lane_maps_kernel, from, to);
}

}  // namespace trainyard::probe

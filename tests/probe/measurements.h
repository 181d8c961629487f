// What the probe measures, a list a file. The design's sections name the parts M0 to M12.
#pragma once

#include <vector>

#include "gpu.h"
#include "rows.h"

namespace trainyard::probe {

/// M0: clocks under load, the edges of captured graphs, and launches that a capture may refuse.
[[nodiscard]] std::vector<Measurement> clock_measurements(Gpu& gpu);
[[nodiscard]] std::vector<Measurement> edge_measurements(Gpu& gpu);
/// M1: the time between two nodes.
[[nodiscard]] std::vector<Measurement> chain_measurements(Gpu& gpu);
/// M2: the time of a copy by its bytes.
[[nodiscard]] std::vector<Measurement> copy_measurements(Gpu& gpu);
/// M3: what it takes to finish sums over blocks.
[[nodiscard]] std::vector<Measurement> finish_measurements(Gpu& gpu);
/// M6: the rate of products from shared memory.
[[nodiscard]] std::vector<Measurement> inner_loop_measurements(Gpu& gpu);
/// M9: kernels of 3 us that overlap, with and without others beside them.
[[nodiscard]] std::vector<Measurement> overlap_measurements(Gpu& gpu);
/// M11: instructions on the GPU and in the emulator.
[[nodiscard]] std::vector<Measurement> lane_map_measurements(Gpu& gpu);

/// Whether they leave the results as they were, as kernels that are wrong might.
extern bool launches_do_nothing;

}  // namespace trainyard::probe

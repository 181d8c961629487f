// Which sums the norms of single parameters are made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optim/norm_blocks.h"

namespace trainyard {

struct NormRuns {
  std::vector<ChunkRun> runs;
  std::vector<SegmentRuns> segments;
};

/// The runs of `chunks`, by segment, each of which is in segment_of_chunk[chunk]. A pure function,
/// so that the order of every sum is that of the model alone.
[[nodiscard]] NormRuns norm_runs(std::span<const std::int32_t> segment_of_chunk,
                                 std::span<const std::int32_t> chunks);

}  // namespace trainyard

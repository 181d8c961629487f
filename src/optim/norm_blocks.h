// The memory of the norms of single parameters, which rules with a trust ratio need.
#pragma once

#include <cstdint>

#include "optim/chunk_runs.h"

namespace trainyard {

/// The 2-norms of a segment's weights and of what the gradient block has for it; of a run, their
/// squares.
struct Norms {
  double weights = 0;
  double gradients = 0;
};

/// On the device; nothing for a rule without a trust ratio.
struct NormBlocks {
  const SegmentRuns* segments = nullptr;  // those of the rule, of UpdateBlocks::runs
  std::int64_t segment_count = 0;
  Norms* partials = nullptr;  // by run
  Norms* norms = nullptr;     // by segment, of all segments
};

}  // namespace trainyard

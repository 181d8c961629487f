// The memory of the norms of single parameters, which rules with a trust ratio need.
#pragma once

#include <cstdint>

namespace trainyard {

/// Chunks in a row of one segment, at most kChunksPerPartial.
struct ChunkRun {
  std::int32_t segment = 0;
  std::int32_t first = 0;
  std::int32_t chunks = 0;
};

/// The runs of one segment, in order.
struct SegmentRuns {
  std::int32_t segment = 0;
  std::int32_t first = 0;  // index of a ChunkRun
  std::int32_t count = 0;
};

/// The 2-norms of a segment's weights and of what the gradient block has for it; of a run, their
/// squares.
struct Norms {
  double weights = 0;
  double gradients = 0;
};

/// On the device; nothing for a rule without a trust ratio.
struct NormBlocks {
  const ChunkRun* runs = nullptr;
  std::int64_t run_count = 0;
  const SegmentRuns* segments = nullptr;  // those of the rule
  std::int64_t segment_count = 0;
  Norms* partials = nullptr;  // [run_count]
  Norms* norms = nullptr;     // by segment, of all segments
};

}  // namespace trainyard

#include "optim/norm_runs.h"

#include <algorithm>

#include "optim/gradient_functors.h"

namespace trainyard {

NormRuns norm_runs(std::span<const std::int32_t> segment_of_chunk,
                   std::span<const std::int32_t> chunks) {
  NormRuns all;
  for (const std::int32_t chunk : chunks) {
    const std::int32_t segment = segment_of_chunk[static_cast<std::size_t>(chunk)];
    ChunkRun* const last = all.runs.empty() ? nullptr : &all.runs.back();
    if (last != nullptr && last->segment == segment && last->first + last->chunks == chunk &&
        last->chunks < kChunksPerPartial) {
      ++last->chunks;
    } else {
      all.runs.push_back({segment, chunk, 1});
    }
  }
  std::ranges::stable_sort(all.runs, {}, &ChunkRun::segment);
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    if (i == 0 || all.runs[i].segment != all.runs[i - 1].segment) {
      all.segments.push_back({all.runs[i].segment, static_cast<std::int32_t>(i), 0});
    }
    ++all.segments.back().count;
  }
  return all;
}

}  // namespace trainyard

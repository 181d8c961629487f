#include "optim/chunk_spans.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

ChunkSpans chunk_spans(std::span<const std::int32_t> segment_of_chunk,
                       std::span<const std::int32_t> chunks) {
  const std::int64_t most = run_length(static_cast<std::int64_t>(segment_of_chunk.size()));
  ChunkSpans all;
  for (const std::int32_t chunk : chunks) {
    const std::int32_t segment = segment_of_chunk[static_cast<std::size_t>(chunk)];
    ChunkSpan* const last = all.spans.empty() ? nullptr : &all.spans.back();
    if (last != nullptr && last->segment == segment && last->first + last->chunks == chunk &&
        last->chunks < most) {
      ++last->chunks;
    } else {
      all.spans.push_back({segment, chunk, 1});
    }
  }
  std::ranges::stable_sort(all.spans, {}, &ChunkSpan::segment);
  for (std::size_t i = 0; i < all.spans.size(); ++i) {
    if (i == 0 || all.spans[i].segment != all.spans[i - 1].segment) {
      all.segments.push_back({all.spans[i].segment, static_cast<std::int32_t>(i), 0});
    }
    ++all.segments.back().count;
  }
  return all;
}

ChunkSpans chunk_spans(std::span<const std::int32_t> segment_of_chunk) {
  std::vector<std::int32_t> all(segment_of_chunk.size());
  std::iota(all.begin(), all.end(), 0);
  return chunk_spans(segment_of_chunk, all);
}

}  // namespace trainyard

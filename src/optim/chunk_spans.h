// The rows of the loops over the flat blocks: chunks of one parameter, one after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trainyard {

/// Chunks in a row of one segment, at most run_length().
struct ChunkSpan {
  std::int32_t segment = 0;
  std::int32_t first = 0;
  std::int32_t chunks = 0;
};

/// The spans of one segment, in order.
struct SegmentSpans {
  std::int32_t segment = 0;
  std::int32_t first = 0;  // index of a ChunkSpan
  std::int32_t count = 0;
};

struct ChunkSpans {
  std::vector<ChunkSpan> spans;
  std::vector<SegmentSpans> segments;
};

/// The most chunks of a span in blocks of so many: 16, that is 8 elements for each lane of a Team,
/// and in large models a power of two that leaves at most 8192 full spans, whose sums one team
/// adds.
[[nodiscard]] constexpr std::int64_t run_length(std::int64_t chunks) {
  std::int64_t length = 16;
  while (length * 8192 < chunks) length *= 2;
  return length;
}

/// The spans of `chunks`, by segment, each of which is in segment_of_chunk[chunk]; their length is
/// that of the whole blocks. A pure function, so that the order of every sum is that of the model
/// alone.
[[nodiscard]] ChunkSpans chunk_spans(std::span<const std::int32_t> segment_of_chunk,
                                     std::span<const std::int32_t> chunks);
/// The spans of all chunks.
[[nodiscard]] ChunkSpans chunk_spans(std::span<const std::int32_t> segment_of_chunk);

}  // namespace trainyard

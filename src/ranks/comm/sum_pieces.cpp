#include "ranks/comm/sum_pieces.h"

#include <algorithm>

#include "base/error.h"

namespace trainyard {

SumPieces::SumPieces(std::span<const SumPart> parts, std::size_t bytes)
    : parts_(parts), bytes_(bytes) {
  TY_CHECK(bytes > 0 && bytes % kAlignment == 0, "a piece is of whole cache lines");
  for (const SumPart& part : parts) {
    TY_CHECK(part.count >= 0 && part.type != DType::u8, "a sum is of numbers");
  }
}

std::span<const SumChunk> SumPieces::next() {
  std::size_t chunks = 0, used = 0;
  while (!parts_.empty()) {
    const SumPart& part = parts_.front();
    if (taken_ == part.count) {
      parts_ = parts_.subspan(1);
      taken_ = 0;
      continue;
    }
    const std::size_t size = size_of(part.type);
    const auto space = static_cast<std::int64_t>((bytes_ - used) / size);
    if (space == 0 || chunks == kMostChunks) break;
    const std::int64_t count = std::min(part.count - taken_, space);
    chunks_[chunks++] = {
        .data = static_cast<std::byte*>(part.data) + static_cast<std::size_t>(taken_) * size,
        .count = count,
        .type = part.type,
        .offset = used,
        .whole = part.count};
    used += static_cast<std::size_t>(count) * size;
    used = (used + kAlignment - 1) / kAlignment * kAlignment;
    taken_ += count;
  }
  return std::span(chunks_).first(chunks);
}

}  // namespace trainyard

#include "compute/conv/weight_gradient/read_ahead.h"

#include <algorithm>

#include "base/offset_allocator.h"

namespace trainyard::direct {

void ReadAhead::begin(std::int64_t calls, std::int64_t rows) {
  all_.clear();
  calls_ = calls;
  call_ = 0;
  next_ = 0;
  rows_ = rows;
}

void ReadAhead::add(const MapMemory& map, const Span& rows, const Span& channels) {
  const Layout& layout = map.layout;
  const std::int64_t height = layout.extent[2], row_elements = layout.extent[3] * layout.block;
  if (layout.extent[3] > 1 && layout.stride[3] != layout.block) return;
  for (std::int64_t row = rows.first, next = 0; row < rows.last; row = next) {
    next = std::min(rows.last, (row / height + 1) * height);
    const std::int64_t first = row / height * map.together;
    const std::int64_t last = std::min(first + map.together, layout.extent[0]);
    const std::int64_t elements = (next - row - 1) * layout.stride[2] + row_elements;
    const std::int64_t row_bytes = (elements * map.element_bytes + rows_ - 1) / rows_;
    for (std::int64_t image = first; image < last; ++image) {
      for (std::int64_t c = channels.first; c < channels.last; c += layout.block) {
        const std::int64_t at = layout.offset(image, c, row % height, 0) * map.element_bytes;
        all_.push_back({.first = static_cast<const char*>(map.data) + at,
                        .row_bytes = round_up(row_bytes, std::int64_t{64})});
      }
    }
  }
}

std::span<const Ahead> ReadAhead::next() {
  const std::size_t first = next_;
  call_ = std::min(call_ + 1, calls_);
  next_ = all_.size() * static_cast<std::size_t>(call_) / static_cast<std::size_t>(calls_);
  return std::span(all_).subspan(first, next_ - first);
}

}  // namespace trainyard::direct

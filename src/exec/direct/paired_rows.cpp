#include "exec/direct/paired_rows.h"

#include <algorithm>

#include "base/error.h"
#include "base/round_up.h"

namespace trainyard::direct {

PairedRows::PairedRows(const Layout& map, const PairedColumns& columns)
    : map_(map),
      layout_(map),
      columns_(columns),
      padded_(columns.before > 0 || columns.span() > map.extent[3]),
      row_floats_(columns.pairs * map.block) {
  TY_CHECK(supports(map), "pixels are paired where rows have no gaps");
  layout_.extent[3] = columns.pairs;
  layout_.stride[3] = map.block;
  layout_.stride[2] = row_floats_;
  layout_.stride[0] = map.extent[2] * row_floats_;
  reserve(map.block, 1);
}

void PairedRows::reserve(std::int64_t channels, std::int64_t rows) {
  layout_.stride[1] = rows * row_floats_;
  pairs_end_ = round_up(channels, map_.block) / map_.block * layout_.stride[1];
  floats_ = pairs_end_ + (padded_ ? (columns_.span() * map_.block + 1) / 2 : 0);
}

bool PairedRows::supports(const Layout& map) {
  const bool row = map.extent[3] == 1 || map.stride[3] == map.block;
  return row && (map.block == 1 || map.block == kBf16Kernels.lanes);
}

void PairedRows::pair_row(const std::uint16_t* row, float* to, std::uint16_t* padded) const {
  const std::int64_t block = map_.block;
  if (padded_) {
    const std::int64_t span = columns_.span(), first = std::min(columns_.before, span);
    const std::int64_t last = std::min(span, columns_.before + map_.extent[3]);
    std::fill(padded, padded + first * block, std::uint16_t{0});
    std::copy(row, row + (last - first) * block, padded + first * block);
    std::fill(padded + last * block, padded + span * block, std::uint16_t{0});
    row = padded;
  }
  const bool apart = columns_.step > 1;
  pair_values({.from = row,
               .to = to,
               .groups = apart ? columns_.pairs : 1,
               .values = apart ? block : row_floats_,
               .step = columns_.step * block,
               .distance = columns_.distance * block});
}

const float* PairedRows::pair(const std::uint16_t* map, const Span& rows, const Span& channels,
                              float* memory) const {
  const std::int64_t height = map_.extent[2], first_block = channels.first / map_.block;
  const std::int64_t last_block = (channels.last + map_.block - 1) / map_.block;
  auto* const padded = reinterpret_cast<std::uint16_t*>(memory + pairs_end_);
  for (std::int64_t block = first_block; block < last_block; ++block) {
    float* to = memory + (block - first_block) * layout_.stride[1];
    for (std::int64_t row = rows.first; row < rows.last; ++row, to += row_floats_) {
      pair_row(map + map_.offset(row / height, block * map_.block, row % height, 0), to, padded);
    }
  }
  return memory - rows.first * row_floats_ - first_block * layout_.stride[1];
}

}  // namespace trainyard::direct

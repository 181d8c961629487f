#include "exec/direct/paired_rows.h"

#include <algorithm>

#include "base/error.h"
#include "base/round_up.h"

namespace trainyard::direct {

namespace {

constexpr std::uint16_t kNoColumn[16] = {};  // zeros for all channels of a block

}  // namespace

Span PairedColumns::inside(std::int64_t width) const {
  const std::int64_t first = std::min(pairs, (before + step - 1) / step);
  const std::int64_t last_column = width - 1 - distance + before;  // of a pair, from the first's
  return {first, std::clamp(last_column < 0 ? 0 : last_column / step + 1, first, pairs)};
}

PairedRows::PairedRows(const Layout& map, const PairedColumns& columns)
    : map_(map),
      layout_(map),
      columns_(columns),
      inside_(columns.inside(map.extent[3])),
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
  floats_ = round_up(channels, map_.block) / map_.block * layout_.stride[1];
}

bool PairedRows::supports(const Layout& map) {
  const bool row = map.extent[3] == 1 || map.stride[3] == map.block;
  return row && (map.block == 1 || map.block == kBf16Kernels.lanes);
}

void PairedRows::pair_at_edge(const std::uint16_t* row, std::int64_t pair, float* to) const {
  const auto column = [&](std::int64_t w) {
    return w >= 0 && w < map_.extent[3] ? row + w * map_.block : kNoColumn;
  };
  const std::int64_t first = columns_.column(pair);
  pair_values({.first = column(first),
               .second = column(first + columns_.distance),
               .to = to + pair * map_.block,
               .groups = 1,
               .values = map_.block,
               .step = 0});
}

void PairedRows::pair_row(const std::uint16_t* row, float* to) const {
  const std::int64_t block = map_.block, pairs = inside_.last - inside_.first;
  const bool apart = columns_.step > 1;
  for (std::int64_t i = 0; i < inside_.first; ++i) pair_at_edge(row, i, to);
  const std::uint16_t* const inner = row + columns_.column(inside_.first) * block;
  pair_values({.first = inner,
               .second = inner + columns_.distance * block,
               .to = to + inside_.first * block,
               .groups = apart ? pairs : 1,
               .values = apart ? block : pairs * block,
               .step = columns_.step * block});
  for (std::int64_t i = inside_.last; i < columns_.pairs; ++i) pair_at_edge(row, i, to);
}

const float* PairedRows::pair(const std::uint16_t* map, const Span& rows, const Span& channels,
                              float* memory) const {
  const std::int64_t height = map_.extent[2], first_block = channels.first / map_.block;
  const std::int64_t last_block = (channels.last + map_.block - 1) / map_.block;
  for (std::int64_t block = first_block; block < last_block; ++block) {
    float* to = memory + (block - first_block) * layout_.stride[1];
    for (std::int64_t row = rows.first; row < rows.last; ++row, to += row_floats_) {
      pair_row(map + map_.offset(row / height, block * map_.block, row % height, 0), to);
    }
  }
  return memory - rows.first * row_floats_ - first_block * layout_.stride[1];
}

}  // namespace trainyard::direct

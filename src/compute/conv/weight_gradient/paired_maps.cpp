#include "compute/conv/weight_gradient/paired_maps.h"

#include <algorithm>

#include "base/error.h"
#include "base/offset_allocator.h"

namespace trainyard::direct {
namespace {

ConvStep on_pairs(ConvStep conv, const PairedRows& x, const PairedRows& dy) {
  conv.maps = {x.layout(), dy.layout()};
  return conv;
}

}  // namespace

PairedRows::PairedRows(const Layout& map)
    : map_(map), layout_(map), row_floats_(map.extent[3] * map.block) {
  TY_CHECK(supports(map), "images are paired where their rows have no gaps");
  layout_.extent[0] = (map.extent[0] + 1) / 2;
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
  const bool columns = map.extent[3] == 1 || map.stride[3] == map.block;
  const bool rows = map.extent[2] == 1 || map.stride[2] == map.extent[3] * map.block;
  return columns && rows && (map.block == 1 || map.block == kBf16Kernels.lanes);
}

void PairedRows::pair_block(const std::uint16_t* map, const Span& rows, std::int64_t channel,
                            float* to) const {
  const std::int64_t height = map_.extent[2];
  for (std::int64_t row = rows.first, next = 0; row < rows.last; row = next) {
    next = std::min(rows.last, (row / height + 1) * height);
    const std::int64_t image = row / height * 2;
    const auto at = [&](std::int64_t i) {
      return i < map_.extent[0] ? map + map_.offset(i, channel, row % height, 0) : nullptr;
    };
    const std::int64_t values = (next - row) * row_floats_;
    pair_values({.first = at(image), .second = at(image + 1), .to = to, .values = values});
    to += values;
  }
}

void PairedRows::write(const std::uint16_t* map, const Span& rows, const Span& channels,
                       float* memory) const {
  const std::int64_t first_block = channels.first / map_.block;
  const std::int64_t last_block = (channels.last + map_.block - 1) / map_.block;
  for (std::int64_t block = first_block; block < last_block; ++block) {
    pair_block(map, rows, block * map_.block, memory + (block - first_block) * layout_.stride[1]);
  }
}

PairedMaps::PairedMaps(const ConvStep& conv)
    : conv_(conv),
      x_(conv.maps.input),
      dy_(conv.maps.output),
      plan_(weight_tiling(on_pairs(conv, x_, dy_), kBf16Kernels)) {
  reserve();
  plan_ = weight_tiling(on_pairs(conv, x_, dy_), kBf16Kernels);
}

/// Room for the most rows and channels that a run of a unit reads.
void PairedMaps::reserve() {
  std::int64_t rows = 0, input_rows_most = 0, channels = 0, vectors = 0;
  for (std::int64_t part = 0; part < plan_.order.parts; ++part) {
    plan_.each_run(part, [&](const Span& run) {
      const Span read = input_rows(conv_, run);
      rows = std::max(rows, run.last - run.first);
      input_rows_most = std::max(input_rows_most, read.last - read.first);
    });
  }
  for (std::int64_t unit = 0; unit < plan_.units(); ++unit) {
    const Span own = plan_.unit(unit), read = plan_.channels_of(own);
    channels = std::max(channels, read.last - read.first);
    vectors = std::max(vectors, own.last - own.first);
  }
  x_.reserve(channels, input_rows_most);
  dy_.reserve(vectors * plan_.lanes, rows);
}

ConvMaps<const float*> PairedMaps::pair(const ConvMaps<const void*>& maps, const Span& run,
                                        std::int64_t unit, bool same_x, float* memory) const {
  const Span own = plan_.unit(unit), filters{own.first * plan_.lanes, own.last * plan_.lanes};
  const Span rows = input_rows(conv_, run), channels = plan_.channels_of(own);
  float* const dy = memory + x_.floats();
  if (!same_x) x_.write(static_cast<const std::uint16_t*>(maps.input), rows, channels, memory);
  dy_.write(static_cast<const std::uint16_t*>(maps.output), run, filters, dy);
  return {x_.origin(rows, channels, memory), dy_.origin(run, filters, dy)};
}

}  // namespace trainyard::direct

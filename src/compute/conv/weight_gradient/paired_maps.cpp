#include "compute/conv/weight_gradient/paired_maps.h"

#include <algorithm>

namespace trainyard::direct {
namespace {

ConvStep on_pairs(ConvStep conv, const PairedRows& x, const PairedRows& dy) {
  conv.maps = {x.layout(), dy.layout()};
  return conv;
}

}  // namespace

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

#include "exec/direct/paired_maps.h"

#include <algorithm>

namespace trainyard::direct {
namespace {

/// Of the output. The last pair of an odd number has a column of zeros.
PairedColumns output_pairs(const ConvStep& conv) {
  return {.pairs = (conv.maps.output.extent[3] + 1) / 2, .step = 2, .distance = 1};
}

/// Of the input: from every column that some tap reads. With one tap, these are apart.
PairedColumns input_pairs(const ConvStep& conv) {
  const ConvAttributes& a = conv.attributes;
  const std::int64_t last = output_pairs(conv).pairs - 1, step = 2 * a.stride.w;
  PairedColumns columns{.distance = a.stride.w, .before = conv.margins.left};
  if (a.kernel.w == 1) {
    columns.step = step;
    columns.pairs = last + 1;
  } else {
    columns.pairs = last * step + (a.kernel.w - 1) * a.dilation.w + 1;
  }
  return columns;
}

/// The convolution whose columns are pairs.
ConvStep on_pairs(ConvStep conv, const PairedRows& x, const PairedRows& dy) {
  ConvAttributes& a = conv.attributes;
  a.stride.w = 2 * a.stride.w / input_pairs(conv).step;
  conv.margins.left = 0;
  conv.maps = {x.layout(), dy.layout()};
  return conv;
}

}  // namespace

PairedMaps::PairedMaps(const ConvStep& conv)
    : conv_(conv),
      x_(conv.maps.input, input_pairs(conv)),
      dy_(conv.maps.output, output_pairs(conv)),
      plan_(weight_plan(on_pairs(conv, x_, dy_), kBf16Kernels)) {
  reserve();
  plan_ = weight_plan(on_pairs(conv, x_, dy_), kBf16Kernels);
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
                                        std::int64_t unit, float* memory) const {
  const Span own = plan_.unit(unit), filters{own.first * plan_.lanes, own.last * plan_.lanes};
  return {
      x_.pair(static_cast<const std::uint16_t*>(maps.input), input_rows(conv_, run),
              plan_.channels_of(own), memory),
      dy_.pair(static_cast<const std::uint16_t*>(maps.output), run, filters, memory + x_.floats())};
}

}  // namespace trainyard::direct

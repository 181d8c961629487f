#include "compute/conv/weight_gradient/weight_tiling.h"

#include <span>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "base/parallel.h"

namespace trainyard::direct {
namespace {

constexpr std::int64_t kRunBytes = 192 << 10;  // both maps': half of a small second-level cache
constexpr std::int64_t kRunPixels = 64;        // at least, to make up for adding the sums of a run
constexpr std::int64_t kPartsBytes = 8 << 20;  // most bytes for the sums of all parts
constexpr std::int64_t kUnits = 32;            // pieces of work that are enough for all threads

std::int64_t ceil_of(std::int64_t a, std::int64_t b) { return a > 0 ? (a + b - 1) / b : 0; }

/// One axis of a convolution.
struct Axis {
  std::int64_t input, output, kernel, stride, dilation, before;

  /// The input pixel that the first output pixel and tap k read; negative in the padding.
  [[nodiscard]] std::int64_t start(std::int64_t k) const { return k * dilation - before; }
  /// The output pixels for which tap k is in the map.
  [[nodiscard]] Span inside(std::int64_t k) const {
    const std::int64_t last = std::min(output, ceil_of(input - start(k), stride));
    return {std::min(last, ceil_of(-start(k), stride)), last};
  }
};

Axis height_of(const ConvStep& conv) {
  const ConvAttributes& a = conv.attributes;
  return {
      conv.maps.input.extent[2], conv.maps.output.extent[2], a.kernel.h, a.stride.h, a.dilation.h,
      conv.margins.top};
}

Axis width_of(const ConvStep& conv) {
  const ConvAttributes& a = conv.attributes;
  return {
      conv.maps.input.extent[3], conv.maps.output.extent[3], a.kernel.w, a.stride.w, a.dilation.w,
      conv.margins.left};
}

const KernelList* kernels_of(const Layout& dy) {
  if (dy.block == kAvx2Kernels.lanes) return &kAvx2Kernels;
  if (dy.block == kAvx512Kernels.lanes && processor_has_avx512()) return &kAvx512Kernels;
  return nullptr;
}

/// The tap columns [first, first + count) of the kernel that one tile takes.
struct Taps {
  std::int64_t first, count;
};

/// 3, 3, ... then 3, 2 and 2, 2 or 1: one tap alone has few sums.
std::vector<Taps> taps_of(std::int64_t columns) {
  std::vector<Taps> all;
  for (std::int64_t first = 0; first < columns; first += all.back().count) {
    const std::int64_t left = columns - first;
    all.push_back({first, left == 4 ? 2 : std::min<std::int64_t>(left, kMostTaps)});
  }
  return all;
}

/// Makes the tiles of a convolution.
class Tiler {
 public:
  Tiler(const ConvStep& conv, const WeightTiling& plan, const KernelList& list)
      : plan_(plan), rows_(height_of(conv)), columns_(width_of(conv)), list_(list) {
    steps_ = steps();
  }

  /// The tiles of this many vectors of filters; none if there is no kernel for so many.
  [[nodiscard]] PlannedTiles tiles(std::int64_t vectors) const {
    PlannedTiles made;
    for (std::int64_t row = 0; row < rows_.kernel; ++row) {
      for (const Taps& taps : taps_of(columns_.kernel)) {
        for (std::int64_t channel = 0; channel < plan_.channels;) {
          const TileKernel* const kernel = find(taps, vectors, plan_.channels - channel);
          if (kernel == nullptr) return {};
          made.push_back(tile(*kernel, row, taps, channel));
          channel += kernel->channels;
        }
      }
    }
    return made;
  }

  [[nodiscard]] PlannedTile filter_sums() const {
    const Layout& dy = plan_.dy;
    return {.tile = {.height = rows_.output,
                     .inner = {0, columns_.output},
                     .dy_image = dy.stride[0],
                     .dy_row = dy.stride[2]},
            .run = list_.sum_filters,
            .sums_offset = plan_.filter_sums_at()};
  }

 private:
  [[nodiscard]] Steps steps() const {
    const bool blocks = plan_.x.block == list_.lanes;
    if (columns_.kernel > 1 && columns_.dilation == 1) {
      if (blocks && columns_.stride == 1) return Steps::neighbours;
      if (blocks && columns_.stride == 2) return Steps::alternate;
      if (plan_.x.stride[3] == 1 && columns_.stride == 1) return Steps::planes;
    }
    return blocks ? Steps::blocks : Steps::any;
  }

  /// Blocks have room for the channels that a kernel takes; elsewhere there are only `left`.
  [[nodiscard]] const TileKernel* find(const Taps& taps, std::int64_t vectors,
                                       std::int64_t left) const {
    const std::span kernels(list_.first, static_cast<std::size_t>(list_.count));
    const auto found = std::ranges::find_if(kernels, [&](const TileKernel& kernel) {
      return kernel.steps == steps_ && kernel.taps == taps.count && kernel.vectors == vectors &&
             (plan_.x.block == list_.lanes || kernel.channels <= left);
    });
    return found == kernels.end() ? nullptr : &*found;
  }

  [[nodiscard]] PlannedTile tile(const TileKernel& kernel, std::int64_t row, const Taps& taps,
                                 std::int64_t channel) const {
    const Layout &x = plan_.x, &dy = plan_.dy;
    const std::int64_t lanes = list_.lanes;
    PlannedTile made;
    made.run = kernel.run;
    made.x_offset = x.offset(0, channel, 0, 0) + rows_.start(row) * x.stride[2] +
                    columns_.start(taps.first) * x.stride[3];
    made.sums_offset =
        ((row * columns_.kernel + taps.first) * plan_.padded_channels + channel) * lanes;
    made.tile = {.height = rows_.output,
                 .rows = rows_.inside(row),
                 .x_image = x.stride[0],
                 .x_row = rows_.stride * x.stride[2],
                 .x_column = columns_.stride * x.stride[3],
                 .x_tap = columns_.dilation * x.stride[3],
                 .x_channel = x.block > 1 ? 1 : x.stride[1],
                 .dy_image = dy.stride[0],
                 .dy_row = dy.stride[2],
                 .dy_vector = dy.stride[1],
                 .sums_vector = plan_.vector_floats(),
                 .sums_tap = plan_.padded_channels * lanes};
    set_columns(made.tile, taps);
    return made;
  }

  void set_columns(WeightTile& tile, const Taps& taps) const {
    tile.inner = {0, columns_.output};
    for (std::int64_t t = 0; t < taps.count; ++t) {
      const Span inside = columns_.inside(taps.first + t);
      tile.inner.first = std::max(tile.inner.first, inside.first);
      tile.inner.last = std::min(tile.inner.last, inside.last);
    }
    tile.inner.last = std::max(tile.inner.first, tile.inner.last);
    for (std::int64_t t = 0; t < taps.count; ++t) {
      const Span inside = columns_.inside(taps.first + t);
      tile.before[t] = {inside.first, std::min(inside.last, tile.inner.first)};
      tile.after[t] = {std::max(inside.first, tile.inner.last), inside.last};
    }
  }

  const WeightTiling& plan_;
  Axis rows_, columns_;
  const KernelList& list_;
  Steps steps_ = Steps::any;
};

/// Sets the channels of each vector of filters: whole blocks of x, within x.
void set_channels(WeightTiling& plan, std::int64_t all_channels) {
  const std::int64_t block = plan.x.block;
  std::vector<Span> used;
  for (std::int64_t filter = 0; filter < plan.filters; filter += plan.lanes) {
    const std::int64_t last = std::min(filter + plan.lanes, plan.filters) - 1;
    const std::int64_t begin = filter / plan.group_filters * plan.group_channels;
    used.push_back({begin / block * block, (last / plan.group_filters + 1) * plan.group_channels});
    plan.padded_channels =
        std::max(plan.padded_channels, round_up(used.back().last, block) - used.back().first);
  }
  for (const Span& channels : used) {
    const std::int64_t most = round_up(all_channels, block) - plan.padded_channels;
    plan.starts.push_back(std::min(channels.first, most));
    plan.channels = std::max(plan.channels, channels.last - plan.starts.back());
  }
}

}  // namespace

WeightOrder weight_order(const ConvStep& conv) {
  const Layout &x = conv.maps.input, &dy = conv.maps.output;
  const ConvAttributes& a = conv.attributes;
  const std::int64_t together = std::min(conv.filters(), kUnitFilters);  // filters
  const std::int64_t groups = ceil_of(together, conv.filters() / a.groups);
  const std::int64_t row_floats =
      groups * conv.channels() * x.extent[3] * a.stride.h + together * dy.extent[3];
  WeightOrder order{.rows = dy.extent[0] * dy.extent[2]};
  order.run = std::max(kRunBytes / 4 / row_floats, ceil_of(kRunPixels, dy.extent[3]));
  const std::int64_t weights = conv.filters() * conv.channels() * a.kernel.h * a.kernel.w;
  const std::int64_t units = ceil_of(conv.filters(), kUnitFilters);
  const auto more_parts = [&](std::int64_t parts) {
    return parts <= kMostParts && parts * units <= kUnits && parts * weights * 4 <= kPartsBytes &&
           parts * order.run <= order.rows;
  };
  while (more_parts(2 * order.parts)) order.parts *= 2;
  return order;
}

std::int64_t WeightTiling::next_vectors(std::int64_t vector, std::int64_t last) const {
  std::int64_t left = 1;
  while (vector + left < last && starts[vector + left] == starts[vector]) ++left;
  const std::int64_t most = static_cast<std::int64_t>(tiles.size());
  return left == most + 1 && most > 2 ? left / 2 : std::min(left, most);
}

std::int64_t WeightTiling::calls(std::int64_t i) const {
  const auto [first, last] = unit(i);
  std::int64_t made = 0;
  for (std::int64_t vector = first, some = 0; vector < last; vector += some) {
    some = next_vectors(vector, last);
    made += static_cast<std::int64_t>(tiles[some - 1].size());
  }
  return made;
}

Layout kernel_layout(const Layout& dy) {
  if (kernels_of(dy) != nullptr) return dy;
  const KernelList& list = processor_has_avx512() ? kAvx512Kernels : kAvx2Kernels;
  return blocked_layout(shape_of(dy), list.lanes);
}

const KernelList& kernels_for(const Layout& dy) {
  const KernelList* const list = kernels_of(dy);
  TY_CHECK(list != nullptr, "dy is in blocks of a vector");
  return *list;
}

Span input_rows(const ConvStep& conv, const Span& output_rows) {
  const Axis axis = height_of(conv);
  const std::int64_t last = output_rows.last - 1;
  const std::int64_t from = output_rows.first % axis.output * axis.stride + axis.start(0);
  const std::int64_t to = last % axis.output * axis.stride + axis.start(axis.kernel - 1) + 1;
  const Span rows{
      output_rows.first / axis.output * axis.input + std::clamp(from, std::int64_t{0}, axis.input),
      last / axis.output * axis.input + std::clamp(to, std::int64_t{0}, axis.input)};
  return {rows.first, std::max(rows.first, rows.last)};
}

WeightTiling weight_tiling(const ConvStep& conv, const KernelList& list) {
  const std::int64_t groups = conv.attributes.groups, lanes = conv.maps.output.block;
  WeightTiling plan{.order = weight_order(conv),
                    .lanes = lanes,
                    .vectors = ceil_of(conv.filters(), lanes),
                    .filters = conv.filters(),
                    .group_filters = conv.filters() / groups,
                    .group_channels = conv.channels(),
                    .area = conv.attributes.kernel.h * conv.attributes.kernel.w,
                    .starts = {},
                    .tiles = {},
                    .filter_sums = {},
                    .x = conv.maps.input,
                    .dy = conv.maps.output};
  set_channels(plan, conv.maps.input.extent[1]);
  const Tiler tiler(conv, plan, list);
  plan.filter_sums = {tiler.filter_sums()};
  for (PlannedTiles tiles = tiler.tiles(1); !tiles.empty();
       tiles = tiler.tiles(static_cast<std::int64_t>(plan.tiles.size()) + 1)) {
    plan.tiles.push_back(std::move(tiles));
  }
  return plan;
}

}  // namespace trainyard::direct

// How a weight gradient is cut into tiles, runs of pixels and parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compute/conv/conv_step.h"
#include "compute/conv/weight_gradient/weight_tile.h"

namespace trainyard::direct {

/// The order of the sums. Taken from extents alone, so that it is the same for any number of
/// threads and any width of vectors: each weight is summed over runs of rows, run after run within
/// a part, then over the parts as a binary tree.
struct WeightOrder {
  std::int64_t rows = 1;   // output rows of all images, in succession
  std::int64_t run = 1;    // rows of a run, the last of a part excepted
  std::int64_t parts = 1;  // a power of two, at most kMostParts; part p is rows
                           // [rows * p / parts, rows * (p + 1) / parts)
};
inline constexpr std::int64_t kMostParts = 32;

/// Filters whose tiles one thread computes in succession, for all channels of their group.
inline constexpr std::int64_t kUnitFilters = 48;
/// Sums of the units that a thread takes together: 512 KiB, half of a second-level cache of 1 MiB.
inline constexpr std::int64_t kTogetherFloats = 128 << 10;

[[nodiscard]] WeightOrder weight_order(const ConvStep& conv);

/// A tile of the first vectors of filters and the channels from their first on: its pointers and
/// rows are given per call.
struct PlannedTile {
  WeightTile tile;
  void (*run)(const WeightTile& tile) = nullptr;
  std::int64_t x_offset = 0;     // offset of tile.x from the vectors' first channel
  std::int64_t sums_offset = 0;  // offset of tile.sums from the first vector's sums
};
/// The tiles of some vectors of filters: all rows and columns of the kernel, all channels.
using PlannedTiles = std::vector<PlannedTile>;

/// A vector of filters has the channels of all groups that its filters are of; what is no weight is
/// computed in vain, and not written. Its sums are [kernel row][kernel column][channel][lane], then
/// those of dy, [lane].
struct WeightTiling {
  WeightOrder order;
  std::int64_t lanes = 8;            // filters in a vector
  std::int64_t vectors = 1;          // vectors of filters
  std::int64_t filters = 1;          // filters of all groups
  std::int64_t group_filters = 1;    // filters of a group
  std::int64_t group_channels = 1;   // channels of a group
  std::int64_t channels = 1;         // channels of a vector
  std::int64_t padded_channels = 1;  // for which sums have room
  std::int64_t area = 1;             // kernel height times width
  std::vector<std::int64_t> starts;  // [vectors]: the first channel of each
  std::vector<PlannedTiles> tiles;   // [vectors - 1]
  PlannedTiles filter_sums;          // the one that sums dy of a vector
  Layout x, dy;

  [[nodiscard]] std::int64_t vector_floats() const { return (area * padded_channels + 1) * lanes; }
  [[nodiscard]] std::int64_t part_floats() const { return vectors * vector_floats(); }
  /// Offset of the sums of dy, from the first of a vector's sums.
  [[nodiscard]] std::int64_t filter_sums_at() const { return area * padded_channels * lanes; }
  [[nodiscard]] std::int64_t first_row(std::int64_t part) const {
    return order.rows * part / order.parts;
  }
  /// Calls f(run) for each run of a part's rows.
  template <class F>
  void each_run(std::int64_t part, const F& f) const {
    const std::int64_t end = first_row(part + 1);
    for (std::int64_t row = first_row(part); row < end; row += order.run) {
      f(Span{row, std::min(row + order.run, end)});
    }
  }
  [[nodiscard]] std::int64_t units() const {
    const std::int64_t most = kUnitFilters / lanes;
    return (vectors + most - 1) / most;
  }
  /// Vectors of filters, as equal a share as can be: a vector alone would take long.
  [[nodiscard]] Span unit(std::int64_t i) const {
    return {vectors * i / units(), vectors * (i + 1) / units()};
  }
  /// Units that a thread sums over a run before it takes the next run: what their sums leave of the
  /// second-level cache is enough for a run's rows of x, which are then read once for all of them.
  [[nodiscard]] std::int64_t units_together() const {
    return std::max<std::int64_t>(1, kTogetherFloats * units() / part_floats());
  }
  /// Whether two units read the same channels of x.
  [[nodiscard]] bool same_channels(std::int64_t one, std::int64_t other) const {
    const Span a = channels_of(unit(one)), b = channels_of(unit(other));
    return a.first == b.first && a.last == b.last;
  }
  /// Channels of x that vectors of filters read.
  [[nodiscard]] Span channels_of(const Span& some) const {
    return {starts[some.first], starts[some.last - 1] + padded_channels};
  }
  /// Calls of kernels for the tiles of a unit.
  [[nodiscard]] std::int64_t calls(std::int64_t i) const;
  /// How many vectors to take together from `vector` on, before `last`.
  [[nodiscard]] std::int64_t next_vectors(std::int64_t vector, std::int64_t last) const;
};

/// The layout in which kernels of this processor read dy: its own, or blocks of a vector.
[[nodiscard]] Layout kernel_layout(const Layout& dy);
/// The kernels for a dy of kernel_layout().
[[nodiscard]] const KernelList& kernels_for(const Layout& dy);
/// The rows of the input, counted over all images in succession, that these rows of the output
/// read; empty if they read padding alone.
[[nodiscard]] Span input_rows(const ConvStep& conv, const Span& output_rows);
/// For the kernels of `list`, in whose blocks maps.output is.
[[nodiscard]] WeightTiling weight_tiling(const ConvStep& conv, const KernelList& list);

}  // namespace trainyard::direct

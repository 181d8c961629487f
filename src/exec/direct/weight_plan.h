// How a weight gradient is cut into tiles, runs of pixels and parts.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/conv_step.h"
#include "exec/direct/weight_tile.h"

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

[[nodiscard]] WeightOrder weight_order(const ConvStep& conv);

/// A tile of the first filters and channels of a group: its pointers and rows are given per call.
struct PlannedTile {
  WeightTile tile;
  void (*run)(const WeightTile& tile) = nullptr;
  std::int64_t x_offset = 0;     // of tile.x from the first channel of the group
  std::int64_t sums_offset = 0;  // of tile.sums from the first vector's sums
};
/// The tiles of some vectors of filters: all rows and columns of the kernel, all channels.
using PlannedTiles = std::vector<PlannedTile>;

/// The sums of a vector are [kernel row][kernel column][channel][lane], then those of dy, [lane].
struct WeightPlan {
  WeightOrder order;
  std::int64_t lanes = 8;                // filters in a vector
  std::int64_t groups = 1, vectors = 1;  // of the convolution; of filters in a group
  std::int64_t filters = 1;              // of all groups
  std::int64_t channels = 1;             // of a group
  std::int64_t padded_channels = 1;      // for which sums have room
  std::int64_t area = 1;                 // of the kernel
  std::vector<PlannedTiles> tiles;       // [vectors - 1]
  PlannedTiles filter_sums;              // the one that sums dy of a vector
  Layout x, dy;

  [[nodiscard]] std::int64_t vector_floats() const { return (area * padded_channels + 1) * lanes; }
  [[nodiscard]] std::int64_t part_floats() const { return groups * vectors * vector_floats(); }
  /// Of dy, from the first of a vector's sums.
  [[nodiscard]] std::int64_t filter_sums_at() const { return area * padded_channels * lanes; }
  /// Of a group.
  [[nodiscard]] std::int64_t units() const {
    return (vectors * lanes + kUnitFilters - 1) / kUnitFilters;
  }
  /// How many vectors to take next of those left in a unit.
  [[nodiscard]] std::int64_t next_vectors(std::int64_t left) const;
};

/// True if there are kernels for the convolution's weight gradient on this processor: dy is in
/// channel blocks of a vector, and with groups both maps' groups are whole blocks of that width.
[[nodiscard]] bool has_weight_plan(const ConvStep& conv);
[[nodiscard]] WeightPlan weight_plan(const ConvStep& conv);

}  // namespace trainyard::direct

// The runs of a sweep: every combination of a grid, or random draws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sweep/axis.h"

namespace trainyard {

/// One run: the value of each axis, in the order of the axes.
struct SweepPoint {
  std::vector<std::string> values;
  /// A folder's name made of them, unique in the sweep: "lr=0.001__total=64".
  std::string name;
};

/// Every combination; the last axis changes fastest. Throws Error{command_line} for two axes of one
/// key or of keys that exclude each other, for more than 10,000 combinations, and as grid_values().
[[nodiscard]] std::vector<SweepPoint> grid_points(std::span<const SweepAxis> axes);
/// `count` draws; equal ones are in the result once. Of a list each value is equally likely. The
/// draws of a smaller count are the first ones of a larger one: the value of axis a in draw i is a
/// function of (seed, a, i). Throws Error{command_line} for two axes of one key.
[[nodiscard]] std::vector<SweepPoint> random_points(std::span<const SweepAxis> axes,
                                                    std::int64_t count, std::uint64_t seed);

/// Each point once for each of `count` seeds from `first`, as a last axis "seed" that is added to
/// `axes`. Throws Error{command_line} if there is one already, or as grid_points().
[[nodiscard]] std::vector<SweepPoint> with_seeds(std::vector<SweepAxis>& axes,
                                                 const std::vector<SweepPoint>& points,
                                                 std::int64_t first, std::int64_t count);

/// "optimizer.sgd.lr=0.001" for each axis, as for --set.
[[nodiscard]] std::vector<std::string> point_overrides(std::span<const SweepAxis> axes,
                                                       const SweepPoint& point);

}  // namespace trainyard

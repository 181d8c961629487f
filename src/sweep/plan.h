// The runs of a sweep: what each key takes, every combination of a grid, or random draws.
//
// The folder sweep trains many runs of one config: which, where, how many at once, and what became
// of them. Each run is a process of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// Numbers from `low` to `high`, both included, with a uniform density of the value or of its
/// logarithm. The results of value_at() are rounded to 4 significant digits, and to whole numbers
/// if both ends were written as such ("32", not "32.0").
struct SweepRange {
  double low = 0;
  double high = 1;
  bool logarithmic = false;  // then low > 0
  bool whole = false;
  std::optional<std::int64_t> points;  // points of a grid, at least 2
};

/// A key and its values as the text of --set, or its range.
struct SweepAxis {
  std::string key;  // "optimizer.sgd.lr"
  std::vector<std::string> values;
  std::optional<SweepRange> range;
};

/// Reads KEY=A,B,C, KEY=lin:LOW..HIGH, KEY=log:LOW..HIGH, or a range with a number of points,
/// log:LOW..HIGH:N. Commas in brackets, braces and quotes belong to a value. Throws
/// Error{command_line} naming the text for anything else, and for a value that occurs twice.
[[nodiscard]] SweepAxis parse_axis(std::string_view text);

/// The number of the range at `share` of its way, in [0, 1], as text for --set.
[[nodiscard]] std::string value_at(const SweepRange& range, double share);
/// The values of an axis in a grid: its list, or the points of its range, evenly spaced. Throws
/// Error{command_line} for a range without a number of points.
[[nodiscard]] std::vector<std::string> grid_values(const SweepAxis& axis);

/// One run: the value of each axis, in the order of the axes.
struct SweepPoint {
  std::vector<std::string> values;
  /// A folder's name made of them, unique in the sweep: "lr=0.001__total=64".
  std::string name;
};

/// Every combination; the last axis changes fastest. Throws Error{command_line} for two axes of one
/// key or of keys that exclude each other, for more than 10,000 combinations, and as grid_values().
[[nodiscard]] std::vector<SweepPoint> grid_points(std::span<const SweepAxis> axes);
/// `count` draws; equal ones are in the result once. Each value of a list is equally likely. The
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

// What one key of a run file takes in a sweep: a list of values, or a range.
//
// The folder sweep trains many runs of one config: which, where, how many at once, and what became
// of them. Each run is a process of its own.
#pragma once

#include <cstdint>
#include <optional>
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
  std::optional<std::int64_t> points;  // of a grid, at least 2
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

}  // namespace trainyard

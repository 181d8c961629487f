#include "sweep/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

constexpr std::int64_t kMostRangePoints = 10'000;

[[noreturn]] void refuse_axis(std::string_view text, const std::string& problem) {
  refuse_command("--grid " + shell_quoted(text) + ": " + problem);
}

/// The pieces between the commas that are outside brackets, braces and quotes.
std::vector<std::string> pieces_of(std::string_view text) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      pieces.emplace_back();
      continue;
    }
    pieces.back() += c;
  }
  for (std::string& piece : pieces) piece = trimmed(piece);
  return pieces;
}

double end_of_range(std::string_view text, std::string_view end) {
  const auto number = parse_real(end);
  if (!number) refuse_axis(text, "'" + std::string(end) + "' is not a number");
  return *number;
}

SweepRange range_of(std::string_view text, std::string_view words, bool logarithmic) {
  SweepRange range{.logarithmic = logarithmic};
  const std::size_t colon = words.find(':');
  if (colon != std::string_view::npos) {
    range.points = parse_integer(words.substr(colon + 1));
    if (!range.points || *range.points < 2 || *range.points > kMostRangePoints) {
      refuse_axis(text, "the number of points after the second colon must be from 2 to 10000");
    }
    words = words.substr(0, colon);
  }
  const std::size_t dots = words.find("..");
  if (dots == std::string_view::npos) {
    refuse_axis(text, "a range is written LOW..HIGH, as in log:1e-4..1e-1");
  }
  const std::string_view low = words.substr(0, dots), high = words.substr(dots + 2);
  range.low = end_of_range(text, low);
  range.high = end_of_range(text, high);
  range.whole = parse_integer(low).has_value() && parse_integer(high).has_value();
  if (range.low >= range.high) refuse_axis(text, "the range must begin below its end");
  if (logarithmic && range.low <= 0) refuse_axis(text, "a logarithmic range must begin above 0");
  return range;
}

}  // namespace

SweepAxis parse_axis(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    refuse_axis(text, "expected KEY=VALUES, as in optimizer.sgd.lr=1e-3,5e-3");
  }
  SweepAxis axis{.key = std::string(text.substr(0, equals))};
  const std::string_view values = text.substr(equals + 1);
  for (const bool logarithmic : {false, true}) {
    const std::string_view name = logarithmic ? "log:" : "lin:";
    if (!values.starts_with(name)) continue;
    axis.range = range_of(text, values.substr(name.size()), logarithmic);
    return axis;
  }
  axis.values = pieces_of(values);
  for (auto value = axis.values.begin(); value != axis.values.end(); ++value) {
    if (value->empty()) refuse_axis(text, "a value is empty");
    if (std::find(axis.values.begin(), value, *value) != value) {
      refuse_axis(text, "the value " + *value + " occurs twice");
    }
  }
  return axis;
}

std::string value_at(const SweepRange& range, double share) {
  // The ends exactly: exp(log(x)) may differ from x.
  double value = share <= 0 ? range.low : range.high;
  if (share > 0 && share < 1) {
    value =
        range.logarithmic
            ? std::exp(std::log(range.low) + share * (std::log(range.high) - std::log(range.low)))
            : range.low + share * (range.high - range.low);
  }
  if (range.whole) return number_text(static_cast<std::int64_t>(std::llround(value)));
  return number_text(*parse_real(fmt::format("{:.3e}", value)));
}

std::vector<std::string> grid_values(const SweepAxis& axis) {
  if (!axis.range) return axis.values;
  if (!axis.range->points) {
    refuse_command("--grid " + axis.key +
                   ": a range needs --random N, which draws from it, or a number of points for a "
                   "grid, as in log:1e-4..1e-1:4");
  }
  std::vector<std::string> values;
  const auto last = static_cast<double>(*axis.range->points - 1);
  for (std::int64_t i = 0; i < *axis.range->points; ++i) {
    std::string value = value_at(*axis.range, static_cast<double>(i) / last);
    // Few whole numbers may be between the ends.
    if (values.empty() || values.back() != value) values.push_back(std::move(value));
  }
  return values;
}

}  // namespace trainyard

#include "sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"
#include "base/philox.h"
#include "base/text.h"
#include "run/config/run_config.h"

namespace trainyard {

namespace {

constexpr std::size_t kMostPoints = 10'000;
constexpr std::size_t kMostNameBytes = 120;

void require_different_keys(std::span<const SweepAxis> axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[i].key == axes[j].key) {
        refuse_command("--grid: the key " + axes[i].key + " is given twice" +
                       (axes[i].key == "seed" ? ", perhaps by --seeds" : ""));
      }
    }
  }
}

/// What `key` names below the path of a rule: "adam" in "optimizer.adam.lr"; "" if the rule has
/// none.
std::string rival_in(const config::ExclusiveKeys& rule, const std::string& key) {
  if (!key.starts_with(rule.path + ".")) return "";
  const std::string name = split(key.substr(rule.path.size() + 1), '.').front();
  const bool named = rule.keys.empty() || std::ranges::find(rule.keys, name) != rule.keys.end();
  return named ? name : "";
}

/// The later of two exclusive keys would replace the former in every run.
void require_together(std::span<const SweepAxis> axes) {
  for (const config::ExclusiveKeys& rule : run_rivals()) {
    const SweepAxis* first = nullptr;
    for (const SweepAxis& axis : axes) {
      const std::string name = rival_in(rule, axis.key);
      if (name.empty()) continue;
      if (first == nullptr) first = &axis;
      if (rival_in(rule, first->key) == name) continue;
      refuse_command("--grid: " + first->key + " and " + axis.key +
                     " exclude each other, so that no run would have both; make two sweeps");
    }
  }
}

/// The last `words` words of a key: "sgd.lr".
std::string key_end(const std::string& key, std::size_t words) {
  const std::vector<std::string> parts = split(key, '.');
  const std::size_t from = parts.size() - std::min(words, parts.size());
  return joined(std::span(parts).subspan(from), ".");
}

/// The shortest ends of the keys that tell them apart.
std::vector<std::string> short_keys(std::span<const SweepAxis> axes) {
  std::vector<std::string> names;
  for (const SweepAxis& axis : axes) {
    const auto shared = [&](std::size_t words) {
      return std::count_if(axes.begin(), axes.end(), [&](const SweepAxis& other) {
               return key_end(other.key, words) == key_end(axis.key, words);
             }) > 1;
    };
    std::size_t words = 1;
    while (shared(words)) ++words;
    names.push_back(key_end(axis.key, words));
  }
  return names;
}

bool is_plain(char c) {
  return is_digit(c) || begins_name(c) || c == '.' || c == '-' || c == '+' || c == '=' || c == ',';
}

/// A folder's name. What a file system or a shell may not take becomes '_', and a hash of the text
/// then keeps names apart.
std::string folder_name(const std::string& text) {
  std::string name = text.substr(0, kMostNameBytes);
  for (char& c : name) {
    if (!is_plain(c)) c = '_';
  }
  return name == text ? name : name + "-" + hash128_hex(text).substr(0, 8);
}

SweepPoint named(std::span<const std::string> keys, std::vector<std::string> values) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < keys.size(); ++i) words.push_back(keys[i] + "=" + values[i]);
  return {.values = std::move(values), .name = folder_name(joined(words, "__"))};
}

/// In [0, 1), a function of its arguments. The process of a sweep shuffles nothing else.
double share_of(std::uint64_t seed, std::size_t axis, std::int64_t draw) {
  const Random4 random = random4(seed, RandomStream::order, static_cast<std::uint32_t>(axis), 0,
                                 static_cast<std::uint64_t>(draw));
  const std::uint64_t bits = (static_cast<std::uint64_t>(random.word[0]) << 32) | random.word[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

std::string drawn(const SweepAxis& axis, double share) {
  if (axis.range) return value_at(*axis.range, share);
  const auto count = static_cast<double>(axis.values.size());
  return axis.values[static_cast<std::size_t>(share * count)];
}

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

std::vector<SweepPoint> grid_points(std::span<const SweepAxis> axes) {
  require_different_keys(axes);
  require_together(axes);
  std::vector<std::vector<std::string>> combinations(1);
  for (const SweepAxis& axis : axes) {
    const std::vector<std::string> values = grid_values(axis);
    if (combinations.size() * values.size() > kMostPoints) {
      refuse_command("--grid: more than 10,000 combinations; use fewer values, or --random N");
    }
    std::vector<std::vector<std::string>> longer;
    for (const auto& combination : combinations) {
      for (const std::string& value : values) {
        longer.push_back(combination);
        longer.back().push_back(value);
      }
    }
    combinations = std::move(longer);
  }
  const std::vector<std::string> keys = short_keys(axes);
  std::vector<SweepPoint> points;
  for (auto& combination : combinations) points.push_back(named(keys, std::move(combination)));
  return points;
}

std::vector<SweepPoint> random_points(std::span<const SweepAxis> axes, std::int64_t count,
                                      std::uint64_t seed) {
  require_different_keys(axes);
  require_together(axes);
  const std::vector<std::string> keys = short_keys(axes);
  std::vector<SweepPoint> points;
  for (std::int64_t draw = 0; draw < count; ++draw) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      values.push_back(drawn(axes[i], share_of(seed, i, draw)));
    }
    SweepPoint point = named(keys, std::move(values));
    const bool known = std::any_of(points.begin(), points.end(), [&](const SweepPoint& other) {
      return other.values == point.values;
    });
    if (!known) points.push_back(std::move(point));
  }
  return points;
}

std::vector<SweepPoint> with_seeds(std::vector<SweepAxis>& axes,
                                   const std::vector<SweepPoint>& points, std::int64_t first,
                                   std::int64_t count) {
  SweepAxis seeds{.key = "seed"};
  for (std::int64_t i = 0; i < count; ++i) seeds.values.push_back(std::to_string(first + i));
  if (points.size() * seeds.values.size() > kMostPoints) {
    refuse_command("--seeds: more than 10,000 runs; use fewer seeds or values");
  }
  axes.push_back(seeds);
  require_different_keys(axes);
  const std::vector<std::string> keys = short_keys(axes);
  std::vector<SweepPoint> repeated;
  for (const SweepPoint& point : points) {
    for (const std::string& seed : seeds.values) {
      std::vector<std::string> values = point.values;
      values.push_back(seed);
      repeated.push_back(named(keys, std::move(values)));
    }
  }
  return repeated;
}

std::vector<std::string> point_overrides(std::span<const SweepAxis> axes, const SweepPoint& point) {
  std::vector<std::string> overrides;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    overrides.push_back(axes[i].key + "=" + point.values[i]);
  }
  return overrides;
}

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

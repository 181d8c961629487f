// Intervals of training, as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainyard {

/// "1 epoch", "500 steps".
struct Interval {
  std::int64_t count = 1;
  enum class Unit { epoch, step } unit = Unit::epoch;
};

/// Empty for a text that is no interval, or one of less than 1.
[[nodiscard]] std::optional<Interval> interval_of(std::string_view text);

}  // namespace trainyard

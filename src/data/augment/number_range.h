// Ranges that augmentations draw from.
#pragma once

#include "config/fields.h"

namespace trainyard {

/// Two numbers, low <= high.
struct NumberRange {
  double low = 0;
  double high = 0;
};

/// Declares `key`, which takes all positional values: a number r for [1 - r, 1 + r], or [low,
/// high]. Both ends are at least `minimum`.
[[nodiscard]] NumberRange read_range(config::Fields& fields, std::string_view key,
                                     std::string_view help, double minimum);

/// Declares `key`, [low, high] with low <= high, both within `limits`. On entry `range` is the
/// default.
void read_bounds(config::Fields& fields, std::string_view key, NumberRange& range,
                 std::string_view help, config::Limits limits);

}  // namespace trainyard

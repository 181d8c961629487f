// Keys whose values are ranges that augmentations draw from, or numbers for each channel.
#pragma once

#include <vector>

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

/// The numbers of `value`, of `key` of `fields`: one, or one per channel; none for `word`. Anything
/// else is reported.
[[nodiscard]] std::vector<float> numbers_or_word(config::Fields& fields, std::string_view key,
                                                 const config::Node& value, std::string_view word);

}  // namespace trainyard

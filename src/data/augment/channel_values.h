// Values that are given for each channel.
#pragma once

#include <vector>

#include "config/fields.h"

namespace trainyard {

/// The numbers of `value`, of `key` of `fields`: one, or one per channel; none for `word`. Anything
/// else is reported.
[[nodiscard]] std::vector<float> numbers_or_word(config::Fields& fields, std::string_view key,
                                                 const config::Node& value, std::string_view word);

}  // namespace trainyard

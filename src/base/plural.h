// Nouns after numbers, for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

/// The noun after a number: "run" for 1, else "runs"; of "class", "box", "batch" and the like
/// "classes".
[[nodiscard]] std::string plural(std::int64_t count, std::string_view noun);
/// A number with its noun: "1 run", "1562 steps".
[[nodiscard]] std::string count_text(std::int64_t count, std::string_view noun);

}  // namespace trainyard

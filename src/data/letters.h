// Letters of 5 x 8 pixels, for labels in pictures.
#pragma once

#include <cstdint>

namespace trainyard {

inline constexpr std::int64_t kLetterWidth = 5, kLetterHeight = 8;

/// The columns of a letter from left to right; bit 0 is the top pixel. Other characters than
/// printable ASCII are a box.
[[nodiscard]] const std::uint8_t* letter_columns(char letter);

}  // namespace trainyard

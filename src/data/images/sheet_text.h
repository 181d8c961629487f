// Text in images, in DejaVu Sans, whose file is part of the program.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/images/image.h"

namespace trainyard {

inline constexpr std::int64_t kTextHeight = 20;  // height of a line, pixels

/// Where a line of text is in an image: its top left corner and its greatest width, pixels.
struct SheetTextPlace {
  std::int64_t y = 0, x = 0, width = 0;
};

/// Draws one line of UTF-8 in black into an image of 3 channels, in which a rectangle of
/// kTextHeight x width at the place must lie. A longer line is cut and ends in "...", as one
/// character. A character that the font lacks is a box; bytes that are not UTF-8 are U+FFFD.
void draw_text(std::string_view text, const SheetTextPlace& at, Image& image);

}  // namespace trainyard

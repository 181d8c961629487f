// Sheets of captioned images, and PNG files of images.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/images/image.h"

namespace trainyard {

/// An image of a sheet and the text below it, of lines that end in \n.
struct SheetCell {
  Image image;
  std::string text;
};

/// One row of cells; rows may differ in length.
using SheetRow = std::vector<SheetCell>;

/// The images on white. A cell is a square of at least 128 pixels. Small images are enlarged by
/// whole factors, so that each of their pixels is a square; larger ones than `most_side` are made
/// smaller (bilinear). Lines of text that are wider than their cell are cut.
[[nodiscard]] Image image_sheet(const std::vector<SheetRow>& rows, std::int64_t most_side);

// Text in images, in DejaVu Sans, whose file is part of the program.

inline constexpr std::int64_t kTextHeight = 20;  // of a line, pixels

/// Where a line of text is in an image: its top left corner and its greatest width, pixels.
struct SheetTextPlace {
  std::int64_t y = 0, x = 0, width = 0;
};

/// Draws one line of UTF-8 in black into an image of 3 channels, in which a rectangle of
/// kTextHeight x width at the place must lie. A longer line is cut and ends in "...", as one
/// character. A character that the font lacks is a box; bytes that are not UTF-8 are U+FFFD.
void draw_text(std::string_view text, const SheetTextPlace& at, Image& image);

/// The image as a PNG file of 8 bits, without a filter.
[[nodiscard]] std::string png_of_image(const Image& image);

}  // namespace trainyard

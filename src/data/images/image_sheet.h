// Sheets of captioned images, and PNG files of images.
#pragma once

#include <cstdint>
#include <string>
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

/// The image as a PNG file of 8 bits, without a filter.
[[nodiscard]] std::string png_of_image(const Image& image);

}  // namespace trainyard

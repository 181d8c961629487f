// A sheet of pictures in rows, with texts.
#pragma once

#include <string>
#include <vector>

#include "data/images/picture.h"

namespace trainyard {

/// A picture of a sheet and the text below it, of lines that end in \n.
struct SheetCell {
  Picture picture;
  std::string text;
};

/// One row of cells; rows may differ in length.
using SheetRow = std::vector<SheetCell>;

/// The pictures on white. A cell is a square of at least 128 pixels. Small pictures are enlarged by
/// whole factors, so that each of their pixels is a square; larger ones than `most_side` are made
/// smaller (bilinear). Lines of text that are wider than their cell are cut (sheet_text.h).
[[nodiscard]] Picture picture_sheet(const std::vector<SheetRow>& rows, std::int64_t most_side);

}  // namespace trainyard

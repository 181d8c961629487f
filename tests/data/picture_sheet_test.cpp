#include "data/picture_sheet.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "data/image_decode.h"
#include "data/png_write.h"

namespace trainyard {

namespace {

Picture counted_picture(ImageSize size, int channels) {
  Picture picture(size, channels);
  for (std::int64_t i = 0; i < size.pixels() * channels; ++i) {
    picture.row(0)[i] = static_cast<std::uint8_t>(7 * i + 3);
  }
  return picture;
}

/// One cell with a picture of one pixel.
Picture sheet_of(std::uint8_t value, const std::string& text) {
  Picture pixel({1, 1}, 1);
  pixel.row(0)[0] = value;
  std::vector<SheetRow> rows(1);
  rows[0].push_back({std::move(pixel), text});
  return picture_sheet(rows, 256);
}

std::int64_t black_values(const Picture& sheet) {
  return std::count(sheet.row(0), sheet.row(0) + sheet.size().pixels() * 3, 0);
}

}  // namespace

TEST_CASE("a written png decodes to its picture, grey and coloured") {
  for (const int channels : {1, 3}) {
    const Picture picture = counted_picture({7, 11}, channels);
    const std::string file = png_of_picture(picture);
    const Picture again = decode_picture({std::as_bytes(std::span(file)), "x"}, channels);
    REQUIRE(again.size() == picture.size());
    CHECK(std::equal(picture.row(0), picture.row(0) + 77 * channels, again.row(0)));
  }
}

TEST_CASE("a sheet enlarges small pictures by whole factors and keeps large ones in their cells") {
  std::vector<SheetRow> rows(2);
  rows[0].push_back({counted_picture({2, 3}, 3), "small"});
  rows[1].push_back({counted_picture({300, 600}, 1), "large"});
  rows[1].push_back({counted_picture({10, 10}, 3), "third"});
  const Picture sheet = picture_sheet(rows, 256);
  // Cells of 256 pixels, texts of 20, gaps of 8.
  CHECK(sheet.size() == ImageSize{8 + 2 * (256 + 20 + 8), 8 + 2 * (256 + 8)});
  // The 2 x 3 picture is 170 x 255: factor 85.
  const std::uint8_t* const pixel = sheet.row(8 + 85) + 3 * (8 + 2 * 85);
  CHECK(pixel[0] == static_cast<std::uint8_t>(7 * 15 + 3));
  CHECK(sheet.row(8)[3 * (8 + 255)] == 255);  // beside it the sheet is white
}

TEST_CASE("texts are drawn below their pictures and cut at the cell's edge") {
  const std::int64_t without = black_values(sheet_of(255, ""));
  CHECK(without == 0);
  CHECK(black_values(sheet_of(255, "I")) == 3 * 4 * 11);  // 11 pixels, each a square of 4, in RGB
  const std::string ten(10, 'I');
  CHECK(black_values(sheet_of(255, ten)) == 3 * 4 * 110);
  CHECK(black_values(sheet_of(255, ten + "IIII")) == 3 * 4 * 110);
}

TEST_CASE("texts of several lines make room for the longest in every row") {
  std::vector<SheetRow> rows(2);
  rows[0].push_back({counted_picture({1, 1}, 1), "one"});
  rows[1].push_back({counted_picture({1, 1}, 1), "one\ntwo\nthree"});
  CHECK(picture_sheet(rows, 128).size() == ImageSize{8 + 2 * (128 + 3 * 20 + 8), 8 + 128 + 8});
  CHECK(black_values(sheet_of(255, "I\nI")) == 2 * black_values(sheet_of(255, "I")));
}

}  // namespace trainyard

#include "data/images/image_sheet.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "data/images/image_decode.h"

namespace trainyard {

namespace {

Image counted_plot(ImageSize size, int channels) {
  Image image(size, channels);
  for (std::int64_t i = 0; i < size.pixels() * channels; ++i) {
    image.row(0)[i] = static_cast<std::uint8_t>(7 * i + 3);
  }
  return image;
}

/// One cell with an image of one pixel.
Image sheet_of(std::uint8_t value, const std::string& text) {
  Image pixel({1, 1}, 1);
  pixel.row(0)[0] = value;
  std::vector<SheetRow> rows(1);
  rows[0].push_back({std::move(pixel), text});
  return image_sheet(rows, 256);
}

/// How dark a part of the sheet is: the sum of what its values lack of white.
std::int64_t ink(const Image& sheet, std::int64_t from_x = 0) {
  std::int64_t sum = 0;
  for (std::int64_t y = 0; y < sheet.size().h; ++y) {
    for (std::int64_t x = 3 * from_x; x < 3 * sheet.size().w; ++x) sum += 255 - sheet.row(y)[x];
  }
  return sum;
}

std::int64_t ink_of(const std::string& text) { return ink(sheet_of(255, text)); }

bool same_sheets(const std::string& text, const std::string& other) {
  const Image a = sheet_of(255, text), b = sheet_of(255, other);
  return std::equal(a.row(0), a.row(0) + a.size().pixels() * 3, b.row(0));
}

}  // namespace

TEST_CASE("a written png decodes to its image, grey and coloured") {
  for (const int channels : {1, 3}) {
    const Image image = counted_plot({7, 11}, channels);
    const std::string file = png_of_image(image);
    const Image again = decode_image({std::as_bytes(std::span(file)), "x"}, channels);
    REQUIRE(again.size() == image.size());
    CHECK(std::equal(image.row(0), image.row(0) + 77 * channels, again.row(0)));
  }
}

TEST_CASE("a sheet enlarges small images by whole factors and keeps large ones in their cells") {
  std::vector<SheetRow> rows(2);
  rows[0].push_back({counted_plot({2, 3}, 3), "small"});
  rows[1].push_back({counted_plot({300, 600}, 1), "large"});
  rows[1].push_back({counted_plot({10, 10}, 3), "third"});
  const Image sheet = image_sheet(rows, 256);
  // Cells of 256 pixels, texts of 20, gaps of 8.
  CHECK(sheet.size() == ImageSize{8 + 2 * (256 + 20 + 8), 8 + 2 * (256 + 8)});
  // The 2 x 3 image is 170 x 255: factor 85.
  const std::uint8_t* const pixel = sheet.row(8 + 85) + 3 * (8 + 2 * 85);
  CHECK(pixel[0] == static_cast<std::uint8_t>(7 * 15 + 3));
  CHECK(sheet.row(8)[3 * (8 + 255)] == 255);  // beside it the sheet is white
}

TEST_CASE("texts are drawn below their images and cut at the cell's edge") {
  CHECK(ink_of("") == 0);
  CHECK(ink_of("I") > 0);
  CHECK(ink_of("\xc3\xbc") > ink_of("u"));  // its dots
  const std::string most(17, 'm');
  const Image sheet = sheet_of(255, most);
  CHECK(ink(sheet, 8 + 128) == 0);
  CHECK(ink(sheet, 8 + 100) > 0);
  CHECK(same_sheets(most, most + "m"));
  CHECK(same_sheets("mmmmmmmm\xe2\x80\xa6", most));  // nine of 13.6 pixels are 123 of 128
}

TEST_CASE("letters of Latin, Greek and Cyrillic have forms of their own; others are boxes") {
  const std::vector<std::string> letters{"u", "\xc3\xbc", "\xc5\x82", "\xce\xbb", "\xd0\xb6"};
  for (const std::string& letter : letters) {
    for (const std::string& other : letters) {
      CHECK(same_sheets(letter, other) == (letter == other));
    }
  }
  CHECK(same_sheets("\xe7\x8a\xac", "\xe7\x8c\xab"));
  CHECK(ink_of("\xe7\x8a\xac") > 0);
  CHECK(same_sheets("a\xff", "a\xef\xbf\xbd"));  // a byte that is no UTF-8
}

TEST_CASE("texts of several lines make room for the longest in every row") {
  std::vector<SheetRow> rows(2);
  rows[0].push_back({counted_plot({1, 1}, 1), "one"});
  rows[1].push_back({counted_plot({1, 1}, 1), "one\ntwo\nthree"});
  CHECK(image_sheet(rows, 128).size() == ImageSize{8 + 2 * (128 + 3 * 20 + 8), 8 + 128 + 8});
  CHECK(ink_of("I\nI") == 2 * ink_of("I"));
}

}  // namespace trainyard

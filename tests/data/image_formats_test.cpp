// WebP, GIF, and BMP with palettes: pixels are Pillow's (scripts/make_image_goldens.py), or those
// of a formula.
#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

#include "data/images/image_decode.h"
#include "helpers.h"
#include "jpeg_files.h"

namespace trainyard::image_formats_test {

using namespace test;

namespace {

using namespace std::string_literals;
using Bytes = std::vector<std::uint8_t>;

EncodedImage of_bytes(const std::string& file, std::int64_t max_pixels = kDefaultMaxPixels) {
  return {std::as_bytes(std::span<const char>(file)), "x", max_pixels};
}

Bytes pixels_in(const std::string& file, int channels) {
  const Image image = decode_image(of_bytes(file), channels);
  CHECK(image_size(of_bytes(file)) == image.size());
  return {image.row(0), image.row(0) + image.size().pixels() * channels};
}

std::string refusal(const std::string& file, std::int64_t max_pixels = kDefaultMaxPixels) {
  return message_of(ErrorKind::data, [&] {
    (void)image_size(of_bytes(file, max_pixels));
    (void)decode_image(of_bytes(file, max_pixels), 3);
  });
}

std::string little(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value);
  return text;
}

struct PaletteBmp {
  std::uint32_t bits = 8;
  std::uint32_t colours = 3;  // colour i is (i + 1, 2 i, 3 i), modulo 256
  std::uint32_t used = 0;     // as the header tells
  std::uint32_t gap = 0;      // bytes after the palette
  bool core = false;          // the header of OS/2, with colours of three bytes
};

/// A BMP of one row of up to 32 bits.
std::string bmp_of_indices(const PaletteBmp& form, std::uint32_t w, std::string row) {
  row.resize(4);
  std::string palette;
  for (std::uint32_t i = 0; i < form.colours; ++i) {
    palette += little(3 * i, 1) + little(2 * i, 1) + little(i + 1, 1) + (form.core ? "" : "\x99");
  }
  const std::uint32_t header = form.core ? 12 : 40;
  const std::uint32_t begin = 14 + header + static_cast<std::uint32_t>(palette.size()) + form.gap;
  const int side = form.core ? 2 : 4;
  std::string file = "BM" + little(begin + 4, 4) + little(0, 4) + little(begin, 4);
  file +=
      little(header, 4) + little(w, side) + little(1, side) + little(1, 2) + little(form.bits, 2);
  if (!form.core) file += little(0, 16) + little(form.used, 4) + little(0, 4);
  return file + palette + std::string(form.gap, '\xcc') + row;
}

/// The pixels of those colours; -1 is black.
Bytes colours_of(const std::vector<int>& indices) {
  Bytes pixels;
  for (const int i : indices) {
    for (const int value : {i + 1, 2 * i, 3 * i}) {
      pixels.push_back(static_cast<std::uint8_t>(i < 0 ? 0 : value));
    }
  }
  return pixels;
}

}  // namespace

TEST_CASE("webp and gif files decode to the pixels that Pillow gives, of animations the first") {
  for (const char* name :
       {"webp_lossy.webp", "webp_lossless.webp", "webp_alpha.webp", "webp_alpha_lossless.webp",
        "webp_animated.webp", "gif_plain.gif", "gif_interlaced.gif", "gif_transparent.gif",
        "gif_animated.gif", "gif_placed.gif", "gif_placed_transparent.gif"}) {
    CAPTURE(name);
    const std::string file = image_file(name);
    const std::string stem(name, std::string_view(name).find('.'));
    for (const int channels : {1, 3}) {
      CHECK(pixels_in(file, channels) == pixels_in(image_file(stem + ".png"), channels));
    }
  }
}

TEST_CASE("a webp or gif that is cut off anywhere before its image ends is refused") {
  for (const char* name : {"webp_lossy.webp", "webp_alpha_lossless.webp", "gif_interlaced.gif"}) {
    const std::string whole = image_file(name);
    for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
      CAPTURE(name);
      CAPTURE(length);
      CHECK(holds(refusal(whole.substr(0, length)), "'x' "));
    }
  }
  const std::string gif = image_file("gif_plain.gif");
  CHECK(refusal(gif.substr(0, 300)) ==
        "'x' is truncated: its first frame extends beyond the file's 300 bytes");
  CHECK(refusal(image_file("webp_lossy.webp").substr(0, 200)) ==
        "'x' cannot be decoded as WebP; it is truncated or damaged");
}

TEST_CASE("the first image of an animated gif suffices") {
  const std::string gif = image_file("gif_animated.gif");
  const std::string cut = gif.substr(0, gif.size() - 60);
  CHECK(pixels_in(cut, 3) == pixels_in(image_file("gif_animated.png"), 3));
}

TEST_CASE("a webp or gif with any byte changed decodes or is refused") {
  for (const char* name : {"webp_lossy.webp", "webp_animated.webp", "gif_placed_transparent.gif"}) {
    const std::string whole = image_file(name);
    for (std::size_t at = 0; at < std::min<std::size_t>(whole.size(), 160); ++at) {
      for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
        std::string changed = whole;
        changed[at] = static_cast<char>(value);
        const std::string message = refusal(changed, 4096);
        CHECK((message == "no error" || holds(message, "'x' ")));
        CHECK_FALSE(holds(message, "wrong kind"));
      }
    }
  }
}

TEST_CASE("the size that a webp or gif claims is checked before memory is taken for it") {
  std::string webp = image_file("webp_lossy.webp");
  webp.replace(26, 4, "\xff\x3f\xff\x3f");
  CHECK(refusal(webp) ==
        "'x' claims 16383 x 16383 pixels, expected at least one and at most max_pixels = 67108864");
  std::string gif = image_file("gif_plain.gif");
  gif.replace(6, 4, "\xff\x3f\xff\x3f");
  CHECK(holds(refusal(gif), "'x' claims 16383 x 16383 pixels"));
  gif.replace(6, 4, std::string("\0\0\1\0", 4));
  CHECK(holds(refusal(gif), "'x' claims 0 x 1 pixels, expected at least one"));
  CHECK(holds(refusal(image_file("webp_lossy.webp"), 850), "at most max_pixels = 850"));
}

TEST_CASE("a gif whose image lacks pixels is refused") {
  std::string gif = image_file("gif_plain.gif");
  const std::size_t image = 13 + 3 * 32 + 10;
  REQUIRE(gif[image] == 8);  // so that codes of 9 bits follow: "clear" (256) and "end" (257)
  gif.replace(image + 1, std::string::npos, "\3\0\3\2\0;"s);
  CHECK(refusal(gif) ==
        "'x' is damaged: a pixel of its first frame is missing, or its palette lacks the colour");
}

TEST_CASE("a bmp has a palette of any size, and colours that it lacks are black, as for Pillow") {
  CHECK(pixels_in(bmp_of_indices({.colours = 3}, 4, "\0\2\1\2"s), 3) == colours_of({0, 2, 1, 2}));
  CHECK(pixels_in(bmp_of_indices({.colours = 1}, 2, "\0\1"s), 3) == colours_of({0, -1}));
  CHECK(pixels_in(bmp_of_indices({.colours = 300, .used = 300}, 2, "\1\xff"s), 3) ==
        colours_of({1, 255}));
  CHECK(pixels_in(bmp_of_indices({.colours = 3, .used = 2, .gap = 9}, 3, "\1\2\xf0"s), 3) ==
        colours_of({1, -1, -1}));
  CHECK(pixels_in(bmp_of_indices({.bits = 4, .colours = 5}, 3, "\x14\x20"), 3) ==
        colours_of({1, 4, 2}));
  CHECK(pixels_in(bmp_of_indices({.bits = 1, .colours = 2}, 3, "\xa0"), 3) ==
        colours_of({1, 0, 1}));
  CHECK(pixels_in(bmp_of_indices({.colours = 256, .core = true}, 2, "\1\xff"s), 3) ==
        colours_of({1, 255}));
  CHECK(refusal(bmp_of_indices({.colours = 0}, 2, "\0\1"s)) ==
        "'x' is damaged: its pixels are indices, but it has no palette");
}

}  // namespace trainyard::image_formats_test

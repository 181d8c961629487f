#include "data/images/image_decode.h"

#include <doctest/doctest.h>

#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

EncodedImage encoded(const std::string& file, std::int64_t max_pixels = kDefaultMaxPixels) {
  return {std::as_bytes(std::span<const char>(file)), "x.png", max_pixels};
}

std::string data_message(const std::string& file, std::int64_t max_pixels = kDefaultMaxPixels) {
  return message_of(ErrorKind::data, [&] {
    const EncodedImage image = encoded(file, max_pixels);
    static_cast<void>(image_size(image));
    static_cast<void>(decode_image(image, 3));
  });
}

std::string pixels_of(std::uint32_t w, std::uint32_t h) {
  std::string pixels;
  for (std::uint32_t i = 0; i < 3 * w * h; ++i) pixels += static_cast<char>(37 * i + 11);
  return pixels;
}

std::vector<std::uint8_t> decoded(const std::string& file, int channels) {
  const ImageSize size = image_size(encoded(file));
  std::vector<std::uint8_t> out(static_cast<std::size_t>(channels * size.h * size.w));
  copy_planes(decode_image(encoded(file), channels), out.data());
  return out;
}

/// Pixels [h, w, c] as [c, h, w].
std::vector<std::uint8_t> planes_of(const std::string& pixels) {
  std::vector<std::uint8_t> planes;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = channel; i < pixels.size(); i += 3) {
      planes.push_back(static_cast<std::uint8_t>(pixels[i]));
    }
  }
  return planes;
}

}  // namespace

TEST_CASE("a png decodes to planes") {
  const std::string pixels = pixels_of(5, 3);
  const std::string file = test::png_of({.w = 5, .h = 3}, pixels);
  CHECK(image_size(encoded(file)) == ImageSize{3, 5});
  CHECK(decoded(file, 3) == planes_of(pixels));
}

TEST_CASE("a bmp decodes to planes, the top row first") {
  const std::string pixels = pixels_of(5, 3);
  CHECK(decoded(test::bmp_of(5, 3, pixels), 3) == planes_of(pixels));
}

TEST_CASE("a grey png decodes to one channel, or to three equal ones") {
  const std::string file = test::png_of({.w = 2, .h = 1, .channels = 1}, "\x10\x20");
  CHECK(decoded(file, 1) == std::vector<std::uint8_t>{0x10, 0x20});
  CHECK(decoded(file, 3) == std::vector<std::uint8_t>{0x10, 0x20, 0x10, 0x20, 0x10, 0x20});
}

TEST_CASE("colours become the rounded grey of Pillow's L, in a png and in a bmp") {
  // Image.new("RGB", (1, 1), colour).convert("L") of Pillow 11.
  const std::string colours =
      "\x0a\xc8\x1e"
      "\xff\xff\xff"
      "\xff\x01\x01"
      "\x01\x02\x03";
  const std::vector<std::uint8_t> grey{124, 255, 77, 2};
  CHECK(decoded(test::png_of({.w = 4, .h = 1}, colours), 1) == grey);
  CHECK(decoded(test::bmp_of(4, 1, colours), 1) == grey);
}

TEST_CASE("a png truncated at any byte is refused") {
  const std::string file = test::png_of({.w = 9, .h = 7}, pixels_of(9, 7));
  for (std::size_t length = 0; length < file.size(); ++length) {
    CAPTURE(length);
    CHECK(holds(data_message(file.substr(0, length)), "'x.png' "));
  }
}

TEST_CASE("a truncated png is reported as such") {
  const std::string file = test::png_of({.w = 9, .h = 7}, pixels_of(9, 7));
  CHECK(data_message(file.substr(0, 100)) ==
        "'x.png' is truncated: the chunk at byte 33 extends beyond the file's 100 bytes");
}

TEST_CASE("a png with one changed bit of its data is refused by its checksum") {
  std::string file = test::png_of({.w = 9, .h = 7}, pixels_of(9, 7));
  file[80] = static_cast<char>(file[80] ^ 1);
  CHECK(data_message(file) ==
        "'x.png' is damaged: the chunk at byte 33 does not match its checksum");
}

TEST_CASE("a png with an empty chunk of data is refused") {
  std::string file = test::png_of({.w = 9, .h = 7}, pixels_of(9, 7));
  file.insert(33, std::string("\0\0\0\0IDAT\0\0\0\0", 12));
  CHECK(data_message(test::with_checksums(file)) ==
        "'x.png' is damaged: the chunk at byte 33 is empty");
}

TEST_CASE("a png whose data ends early is refused") {
  const std::string file = test::png_of({.w = 9, .h = 7, .claimed_h = 8}, pixels_of(9, 7));
  CHECK(holds(data_message(file), "'x.png' cannot be decoded (not enough pixels)"));
}

TEST_CASE("a bmp truncated at any byte of its pixels is refused") {
  const std::string file = test::bmp_of(5, 3, pixels_of(5, 3));
  for (std::size_t length = 54; length < file.size(); ++length) {
    CHECK(data_message(file.substr(0, length)) ==
          "'x.png' is truncated: " + std::to_string(length) +
              " bytes, 102 expected from its "
              "header");
  }
}

TEST_CASE("a small png that claims 2 GiB is refused by its header") {
  // 16,384 x 16,384 pixels of 8 bytes are 2 GiB; the file has about 100 bytes.
  const std::string file =
      test::png_of({.w = 1, .h = 1, .claimed_w = 16384, .claimed_h = 16384}, "abc");
  CHECK(file.size() < 121);
  CHECK(data_message(file) ==
        "'x.png' claims 16384 x 16384 pixels, expected at least one and at most max_pixels = "
        "67108864");
}

TEST_CASE("a png of more than 16384 pixels per side is refused by its header") {
  const std::string file =
      test::png_of({.w = 1, .h = 1, .claimed_w = 26755, .claimed_h = 26755}, "abc");
  CHECK(data_message(file) ==
        "'x.png' is not a readable PNG, GIF or BMP file: damaged in its header, or more than 16384 "
        "pixels per side; convert or remove it");
}

TEST_CASE("a png whose claim is within the limits but not in the file is refused") {
  const std::string file =
      test::png_of({.w = 1, .h = 1, .claimed_w = 2000, .claimed_h = 2000}, "abc");
  CHECK(holds(data_message(file), "'x.png' cannot be decoded (not enough pixels)"));
}

TEST_CASE("a png that unpacks to far more than it claims exceeds the allocator's budget") {
  const std::string file = test::png_of_zeros(64 << 20);
  CHECK(file.size() < (1 << 19));
  CHECK(holds(data_message(file), "'x.png' cannot be decoded (outofmem)"));
}

TEST_CASE("a png that stb refuses without a reason is named, not with another image's reason") {
  std::string bad = test::png_of({.w = 8, .h = 8}, pixels_of(8, 8));
  CHECK(holds(data_message(bad.substr(0, bad.size() - 30)), "x.png"));  // leaves a reason
  const char stream[] = {'\x78', '\x9c', '\xff', '\xff'};  // a block of type 3, which deflate lacks
  const std::size_t chunk = bad.find("IDAT");
  bad.replace(chunk - 4, std::string::npos,
              test::big_endian(4) + "IDAT" + std::string(stream, 4) + std::string(4, '\0') +
                  test::big_endian(0) + "IEND" + std::string(4, '\0'));
  CHECK(data_message(test::with_checksums(bad)) ==
        "'x.png' cannot be decoded (bad data); it is truncated or damaged");
}

TEST_CASE("an image of other channels than 1 and 3 is a bug, not rows of another width") {
  for (const int channels : {0, 2, 4, 5, 7}) {
    CAPTURE(channels);
    CHECK(holds(message_of(ErrorKind::bug,
                           [&] {
                             Image(ImageSize{2, 2}, channels);
                           }),
                "an image has 1 or 3 channels"));
  }
  CHECK(holds(message_of(ErrorKind::bug,
                         [] {
                           Image(ImageSize{std::int64_t{1} << 31, 2}, 3);
                         }),
              "sides of up to 2^30"));
}

TEST_CASE("a bmp whose rows are stored from top to bottom decodes to the same planes") {
  const std::string pixels = pixels_of(5, 3);
  std::string upside_down;
  for (const std::size_t y : {2u, 1u, 0u}) upside_down += pixels.substr(15 * y, 15);
  std::string file = test::bmp_of(5, 3, upside_down);
  file.replace(22, 4, "\xfd\xff\xff\xff");  // a height of -3
  CHECK(decoded(file, 3) == planes_of(pixels));
}

TEST_CASE("an image with any byte changed decodes or is refused") {
  // Run under ASan and UBSan by the dev preset.
  const std::string files[] = {test::png_of({.w = 5, .h = 3}, pixels_of(5, 3)),
                               test::png_of({.w = 5, .h = 3, .channels = 1}, pixels_of(5, 3)),
                               test::bmp_of(5, 3, pixels_of(5, 3))};
  for (const std::string& file : files) {
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (const int value : {0, 1, 2, 3, 4, 8, 16, 32, 0x7f, 0x80, 0xff}) {
        std::string changed = file;
        changed[at] = static_cast<char>(value);
        if (file[0] != 'B') changed = test::with_checksums(changed);
        const std::string message = data_message(changed, 4096);
        CHECK((message == "no error" || holds(message, "'x.png' ")));
        CHECK_FALSE(holds(message, "wrong kind"));
      }
    }
  }
}

TEST_CASE("max_pixels is the largest size that is decoded") {
  const std::string file = test::png_of({.w = 5, .h = 3}, pixels_of(5, 3));
  CHECK(data_message(file, 15) == "no error");
  CHECK(data_message(file, 14) ==
        "'x.png' claims 5 x 3 pixels, expected at least one and at most max_pixels = 14");
}

TEST_CASE("a file of another format is refused") {
  CHECK(holds(data_message("text"), "'x.png' is not a JPEG, PNG, WebP, GIF or BMP file"));
}

}  // namespace trainyard

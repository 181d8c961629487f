#include "data/images/jpeg.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/images/image_decode.h"
#include "helpers.h"
#include "jpeg_files.h"

namespace trainyard {

using namespace test;

namespace {

EncodedImage named(const std::string& file, std::int64_t max_pixels = kDefaultMaxPixels) {
  return {std::as_bytes(std::span<const char>(file)), "x.jpg", max_pixels};
}

std::vector<std::uint8_t> pixels_of(const Image& image) {
  return {image.row(0), image.row(0) + image.size().pixels() * image.channels()};
}

std::vector<std::uint8_t> pixels_of_file(const std::string& file, int channels) {
  return pixels_of(decode_image(named(file), channels));
}

std::string jpeg_message(const std::string& file, std::int64_t max_pixels = kDefaultMaxPixels) {
  return message_of(ErrorKind::data, [&] { (void)decode_image(named(file, max_pixels), 3); });
}

/// The part of an image, copied pixel by pixel.
std::vector<std::uint8_t> part_of(const Image& whole, const ImagePart& part) {
  std::vector<std::uint8_t> pixels;
  for (std::int64_t y = 0; y < part.size.h; ++y) {
    const std::uint8_t* row = whole.row(part.top + y) + part.left * whole.channels();
    pixels.insert(pixels.end(), row, row + part.size.w * whole.channels());
  }
  return pixels;
}

}  // namespace

TEST_CASE("a jpeg decodes to the pixels that Pillow gives") {
  for (const char* name : {"chroma_420", "chroma_422", "chroma_444", "progressive", "cmyk"}) {
    CAPTURE(name);
    const std::string file = image_file(std::string(name) + ".jpg");
    CHECK(image_size(named(file)) == ImageSize{45, 67});
    CHECK(pixels_of_file(file, 3) == pixels_of_file(image_file(std::string(name) + ".png"), 3));
  }
}

TEST_CASE("a grey jpeg decodes to one channel, or to three equal ones") {
  const std::string file = image_file("grey.jpg");
  const std::vector<std::uint8_t> grey = pixels_of_file(image_file("grey.png"), 1);
  CHECK(pixels_of_file(file, 1) == grey);
  const std::vector<std::uint8_t> colour = pixels_of_file(file, 3);
  for (std::size_t i = 0; i < colour.size(); ++i) REQUIRE(colour[i] == grey[i / 3]);
}

TEST_CASE("a coloured jpeg decodes to one channel, its luma") {
  // The image that is stored as cyan, magenta, yellow and black has no luma of its own: it is
  // computed from its red, green and blue.
  for (const char* name : {"chroma_444", "cmyk"}) {
    CAPTURE(name);
    const std::vector<std::uint8_t> colour =
        pixels_of_file(image_file(std::string(name) + ".png"), 3);
    const std::vector<std::uint8_t> grey =
        pixels_of_file(image_file(std::string(name) + ".jpg"), 1);
    REQUIRE(grey.size() == 67 * 45);
    for (std::size_t i = 0; i < grey.size(); ++i) {
      const double luma =
          0.299 * colour[3 * i] + 0.587 * colour[3 * i + 1] + 0.114 * colour[3 * i + 2];
      // Red, green and blue of 0 to 255 do not hold every luma and chroma of a JPEG.
      const bool clipped =
          colour[3 * i] % 255 == 0 || colour[3 * i + 1] % 255 == 0 || colour[3 * i + 2] % 255 == 0;
      if (!clipped) REQUIRE(std::abs(luma - grey[i]) <= 1);
    }
  }
}

TEST_CASE("a part of a jpeg has the pixels of the whole one") {
  for (const char* name : {"chroma_420", "chroma_422", "chroma_444", "progressive", "large"}) {
    const std::string file = image_file(std::string(name) + ".jpg");
    for (const int reduction : {1, 2, 4, 8}) {
      const ImageSize stored = jpeg_header(named(file)).stored;
      const ImageSize size{(stored.h + reduction - 1) / reduction,
                           (stored.w + reduction - 1) / reduction};
      const Image whole = decode_jpeg(named(file), 3, {.reduction = reduction, .size = size});
      for (const std::int64_t top : {0, 1, 2, 5}) {
        for (const std::int64_t left : {0, 1, 3, 4}) {
          ImagePart part{.reduction = reduction,
                         .top = top * size.h / 6,
                         .left = left * size.w / 5,
                         .size = {}};
          part.size = {(size.h - part.top + 1) / 2, (size.w - part.left + 2) / 3};
          CAPTURE(name);
          CAPTURE(reduction);
          CAPTURE(part.top);
          CAPTURE(part.left);
          CHECK(pixels_of(decode_jpeg(named(file), 3, part)) == part_of(whole, part));
        }
      }
    }
  }
}

TEST_CASE("a jpeg is turned upright as its orientation says") {
  // The positions of the stored pixels in the upright image, a row per line of the image: in
  // stored order 0 1 2 / 3 4 5.
  const std::vector<std::vector<int>> upright{
      {0, 1, 2, 3, 4, 5}, {2, 1, 0, 5, 4, 3}, {5, 4, 3, 2, 1, 0}, {3, 4, 5, 0, 1, 2},
      {0, 3, 1, 4, 2, 5}, {3, 0, 4, 1, 5, 2}, {5, 2, 4, 1, 3, 0}, {2, 5, 1, 4, 0, 3}};
  Image stored({2, 3}, 1);
  for (std::uint8_t i = 0; i < 6; ++i) stored.row(0)[i] = i;
  for (int value = 1; value <= 8; ++value) {
    CAPTURE(value);
    const Image image = turned(stored, {value});
    CHECK(image.size() == (value < 5 ? ImageSize{2, 3} : ImageSize{3, 2}));
    const std::vector<std::uint8_t> pixels = pixels_of(image);
    CHECK(std::vector<int>(pixels.begin(), pixels.end()) ==
          upright[static_cast<std::size_t>(value - 1)]);
  }
}

TEST_CASE("the orientation of an Exif segment is read in both byte orders") {
  const std::string file = image_file("chroma_444.jpg");
  const Image stored = decode_image(named(file), 3);
  for (const bool big : {true, false}) {
    const std::string rotated = test::with_orientation(file, 6, big);
    CHECK(image_size(named(rotated)) == ImageSize{67, 45});
    CHECK(pixels_of_file(rotated, 3) == pixels_of(turned(stored, {6})));
  }
  for (const int unknown : {0, 9, 1000}) {
    CHECK(image_size(named(test::with_orientation(file, unknown))) == ImageSize{45, 67});
  }
}

TEST_CASE("a damaged Exif segment leaves the image as it is stored") {
  const std::string file = image_file("chroma_444.jpg");
  const std::string rotated = test::with_orientation(file, 6);
  const std::size_t begin = 2 + 4 + 6;  // offset of the TIFF structure
  for (std::size_t at = begin; at < begin + 26; ++at) {
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::string damaged = rotated;
      damaged[at] = static_cast<char>(value);
      const ImageSize size = image_size(named(damaged));
      CHECK((size == ImageSize{45, 67} || size == ImageSize{67, 45}));
    }
  }
}

TEST_CASE("a jpeg truncated at any byte is refused") {
  for (const char* name : {"chroma_420.jpg", "progressive.jpg"}) {
    const std::string file = image_file(name);
    // The end of image, two bytes, says that nothing is missing.
    for (std::size_t length = 0; length < file.size() - 1; length += 7) {
      CAPTURE(length);
      CHECK(holds(jpeg_message(file.substr(0, length)), "'x.jpg' "));
    }
  }
}

TEST_CASE("a truncated jpeg is reported as such") {
  const std::string file = image_file("chroma_420.jpg");
  CHECK(jpeg_message(file.substr(0, 1000)) ==
        "'x.jpg' cannot be decoded (Premature end of JPEG file); it is truncated or damaged, or a "
        "kind of JPEG that is not supported");
}

TEST_CASE(
    "a jpeg with foreign bytes between its segments is decoded, others' warnings are errors") {
  const std::string file = image_file("chroma_444.jpg");
  const std::string end = file.substr(file.size() - 2);
  CHECK(jpeg_message(file.substr(0, file.size() - 2) + "abc" + end) == "no error");
  std::string damaged = file;
  damaged.replace(file.size() - 200, 2, "\xff\xc9");
  CHECK(holds(jpeg_message(damaged), "'x.jpg' cannot be decoded (Corrupt JPEG data"));
}

TEST_CASE("an empty image is refused as empty") {
  CHECK(jpeg_message("") == "'x.jpg' is empty; get the image again or remove it");
}

TEST_CASE("a jpeg of 12 bits is refused with its bits") {
  CHECK(jpeg_message(test::grey_jpeg({})) == "no error");
  CHECK(holds(jpeg_message(test::grey_jpeg({.bits = 12})), "Unsupported JPEG data precision 12"));
}

TEST_CASE("a small jpeg that claims 65500 pixels per side is refused by its header") {
  const std::string bomb = test::grey_jpeg({.w = 8, .h = 8});
  std::string file = bomb;
  const std::size_t size = file.find("\xff\xc0") + 5;
  file.replace(size, 4, "\xff\xdc\xff\xdc");
  CHECK(jpeg_message(file) ==
        "'x.jpg' claims 65500 x 65500 pixels, expected at least one and at most max_pixels = "
        "67108864");
  file.replace(size, 4, "\x10\x01\x10\x01");
  CHECK(holds(jpeg_message(file, 16 << 20), "claims 4097 x 4097 pixels"));
  // Within the limit, its data are missing.
  CHECK(holds(jpeg_message(file), "cannot be decoded"));
}

TEST_CASE("a jpeg of many scans is refused, which would otherwise be decoded for minutes") {
  CHECK(jpeg_message(test::grey_jpeg({.w = 16, .h = 16, .scans_a_component = 30})) == "no error");
  CHECK(holds(jpeg_message(test::grey_jpeg({.w = 16, .h = 16, .scans_a_component = 40})),
              "(more than 100 scans)"));
}

TEST_CASE("a jpeg with any byte changed decodes or is refused") {
  // Run under ASan and UBSan by the dev preset.
  for (const char* name : {"grey.jpg", "progressive.jpg"}) {
    const std::string file = image_file(name);
    for (std::size_t at = 0; at < file.size(); at += 3) {
      for (const int value : {0, 1, 0x7f, 0xff}) {
        std::string changed = file;
        changed[at] = static_cast<char>(value);
        const std::string message = jpeg_message(changed, 1 << 16);
        CHECK((message == "no error" || holds(message, "'x.jpg' ")));
        CHECK_FALSE(holds(message, "wrong kind"));
      }
    }
  }
}

TEST_CASE("images of other formats are refused by the names of their formats") {
  using std::string_literals::operator""s;
  const auto refusal = [](const std::string& name) {
    return "'x.jpg' is " + name +
           " file, expected JPEG, PNG, WebP, GIF or BMP; convert it, for instance to PNG";
  };
  CHECK(jpeg_message("II*\0...."s) == refusal("a TIFF"));
  CHECK(jpeg_message("....ftypheic") == refusal("a HEIF or AVIF"));
  CHECK(jpeg_message("hello") ==
        "'x.jpg' is not a JPEG, PNG, WebP, GIF or BMP file: its first bytes are of none of them; "
        "convert or remove it");
}

}  // namespace trainyard

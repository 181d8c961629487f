#include <doctest/doctest.h>

#include <algorithm>

#include "data/images/image.h"
#include "data/images/image_decode.h"
#include "jpeg_files.h"

namespace trainyard {

namespace {

Image decoded(const std::string& name) {
  const std::string file = test::image_file(name);
  return decode_image({std::as_bytes(std::span(file)), name}, 3);
}

/// The number of values that differ.
std::int64_t differences(const Image& a, const Image& b) {
  if (a.size() != b.size()) return -1;
  const std::int64_t values = a.size().pixels() * a.channels();
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < values; ++i) count += a.row(0)[i] != b.row(0)[i];
  return count;
}

}  // namespace

TEST_CASE("an image is resized to the pixels that Pillow gives, smaller and larger") {
  const Image image = decoded("chroma_420.jpg");
  for (const auto& filter : words(ResizeFilter{})) {
    for (const ImageSize to : {ImageSize{20, 29}, ImageSize{52, 71}}) {
      const std::string name = std::string(filter.word) + "_" + std::to_string(to.w) + "x" +
                               std::to_string(to.h) + ".png";
      CAPTURE(name);
      CHECK(differences(resized(image, to, filter.value, whole_box(image.size())), decoded(name)) ==
            0);
    }
  }
}

TEST_CASE("a tall image is resized to the pixels of Pillow 9 to 12, not to those of 13") {
  const Image noise = decoded("noise.png");
  CHECK(differences(resized(noise, {13, 17}, ResizeFilter::bilinear, whole_box(noise.size())),
                    decoded("noise_17x13.png")) == 0);
}

TEST_CASE("an image resized to its own size is unchanged") {
  const Image image = decoded("chroma_420.jpg");
  for (const auto& filter : words(ResizeFilter{})) {
    const ImageBox whole = whole_box(image.size());
    CHECK(differences(resized(image, image.size(), filter.value, whole), image) == 0);
  }
}

TEST_CASE("a grey image is resized as each channel of a coloured one") {
  const Image color = decoded("grey.jpg");
  Image grey(color.size(), 1);
  for (std::int64_t i = 0; i < color.size().pixels(); ++i) grey.row(0)[i] = color.row(0)[3 * i];
  const Image small = resized(grey, {11, 30}, ResizeFilter::bicubic, whole_box(grey.size()));
  const Image expected = resized(color, {11, 30}, ResizeFilter::bicubic, whole_box(color.size()));
  for (std::int64_t i = 0; i < 11 * 30; ++i) CHECK(small.row(0)[i] == expected.row(0)[3 * i]);
}

TEST_CASE("the centred part has the proportions of the result and touches two edges") {
  const ImageBox wide = centred_box({40, 100}, {20, 20});
  CHECK(wide.top == 0);
  CHECK(wide.bottom == 40);
  CHECK(wide.left == 30);
  CHECK(wide.right == 70);
  const ImageBox tall = centred_box({100, 40}, {10, 20});
  CHECK(tall.top == 40);
  CHECK(tall.bottom == 60);
  CHECK(tall.left == 0);
  CHECK(tall.right == 40);
}

TEST_CASE("resizing a part is resizing what was cut out, where its edges are between pixels") {
  const Image image = decoded("chroma_420.jpg");
  const ImageBox part{.top = 5, .left = 10, .bottom = 25, .right = 40};
  Image cut({20, 30}, 3);
  for (std::int64_t y = 0; y < 20; ++y) {
    std::copy_n(image.row(5 + y) + 3 * 10, 3 * 30, cut.row(y));
  }
  // A box filter looks at no pixel outside the part.
  CHECK(differences(resized(image, {10, 15}, ResizeFilter::box, part),
                    resized(cut, {10, 15}, ResizeFilter::box, whole_box(cut.size()))) == 0);
}

}  // namespace trainyard

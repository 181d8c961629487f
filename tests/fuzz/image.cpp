#include <algorithm>
#include <cstdint>
#include <vector>

#include "../data/helpers.h"
#include "base/error.h"
#include "data/images/image_decode.h"
#include "data/images/jpeg.h"
#include "expect.h"

namespace trainyard::fuzz {

namespace {

void decode(std::string_view input) {
  const EncodedImage image{std::as_bytes(std::span(input)), "x", 1 << 16};
  const ImageSize size = image_size(image);
  for (const int channels : {1, 3}) {
    std::vector<std::uint8_t> out(static_cast<std::size_t>(channels * size.h * size.w));
    copy_planes(decode_image(image, channels), out.data());
  }
}

/// The lower right quarter must have the pixels of the whole image.
void decode_part(const EncodedImage& image, int reduction) {
  const ImageSize stored = jpeg_header(image).stored;
  ImagePart part{
      .reduction = reduction,
      .size = {(stored.h + reduction - 1) / reduction, (stored.w + reduction - 1) / reduction}};
  const Image whole = decode_jpeg(image, 3, part);
  part.top = part.size.h / 2;
  part.left = part.size.w / 2;
  part.size = {part.size.h - part.top, part.size.w - part.left};
  const Image quarter = decode_jpeg(image, 3, part);
  for (std::int64_t y = 0; y < part.size.h; ++y) {
    expect(std::equal(quarter.row(y), quarter.row(y) + 3 * part.size.w,
                      whole.row(part.top + y) + 3 * part.left),
           "a part of a JPEG differs from the whole one");
  }
}

}  // namespace

void read_jpeg(std::string_view input) {
  decode(input);
  const EncodedImage image{std::as_bytes(std::span(input)), "x", 1 << 16};
  if (image_format(image) != ImageFormat::jpeg) bad_file(image.name, "is not a JPEG");
  for (const int reduction : {1, 2, 4, 8}) decode_part(image, reduction);
}

void read_image(std::string_view input) { decode(input); }

/// Corrects the checksums, so that the code behind them is reached.
void read_png(std::string_view input) { decode(test::with_checksums(std::string(input))); }

}  // namespace trainyard::fuzz

#include "data/images/image_decode.h"

#include <iterator>
#include <utility>

#include "base/bad_file.h"
#include "base/error.h"
#include "data/images/bmp.h"
#include "data/images/gif.h"
#include "data/images/image_check.h"
#include "data/images/image_format.h"
#include "data/images/jpeg.h"
#include "data/images/stb_decode.h"
#include "data/images/webp.h"

namespace trainyard {

namespace {

Picture upright_jpeg(const EncodedImage& image, int channels) {
  const JpegHeader header = jpeg_header(image);
  Picture stored = decode_jpeg(image, channels, {.size = header.stored});
  return header.orientation.value == 1 ? std::move(stored) : turned(stored, header.orientation);
}

}  // namespace

ImageSize image_size(const EncodedImage& image) {
  const ImageFormat format = image_format(image);
  if (format == ImageFormat::jpeg) return jpeg_header(image).size();
  if (format == ImageFormat::gif && image.bytes.size() < kGifHeaderBytes) {
    bad_file(image.name, "is truncated: it ends in its header");
  }
  const ImageSize size = format == ImageFormat::webp ? webp_size(image) : stb_size(image);
  check_claim(image, size);
  return size;
}

Picture decode_picture(const EncodedImage& image, int channels) {
  const ImageFormat format = image_format(image);
  if (format == ImageFormat::jpeg) return upright_jpeg(image, channels);
  const ImageSize size = image_size(image);
  if (format == ImageFormat::webp) return decode_webp(image, size, channels);
  if (format == ImageFormat::gif) return decode_gif(image, size, channels);
  if (format == ImageFormat::bmp) return decode_bmp(image, size, channels);
  check_png(image);
  return stb_decode(image, size, channels);
}

void decode_image(const EncodedImage& image, int channels, std::span<std::uint8_t> out) {
  const Picture picture = decode_picture(image, channels);
  TY_CHECK(std::ssize(out) == picture.size().pixels() * channels,
           "planes of another size than the picture");
  copy_planes(picture, out.data());
}

}  // namespace trainyard

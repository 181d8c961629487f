#include "data/image_decode.h"

#include <iterator>
#include <utility>

#include "base/error.h"
#include "data/image_check.h"
#include "data/image_format.h"
#include "data/jpeg.h"
#include "data/stb_decode.h"

namespace trainyard {

ImageSize image_size(const EncodedImage& image) {
  if (image_format(image) == ImageFormat::jpeg) return jpeg_header(image).size();
  const ImageSize size = stb_size(image);
  check_claim(image, size);
  return size;
}

Picture decode_picture(const EncodedImage& image, int channels) {
  if (image_format(image) != ImageFormat::jpeg) {
    return stb_decode(image, image_size(image), channels);
  }
  const JpegHeader header = jpeg_header(image);
  Picture stored = decode_jpeg(image, channels, {.size = header.stored});
  return header.orientation.value == 1 ? std::move(stored) : turned(stored, header.orientation);
}

void decode_image(const EncodedImage& image, int channels, std::span<std::uint8_t> out) {
  const Picture picture = decode_picture(image, channels);
  TY_CHECK(std::ssize(out) == picture.size().pixels() * channels,
           "planes of another size than the picture");
  copy_planes(picture, out.data());
}

}  // namespace trainyard

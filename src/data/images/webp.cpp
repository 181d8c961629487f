#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "data/images/image_decode.h"

namespace trainyard {

namespace {

const std::uint8_t* webp_bytes(const EncodedImage& encoded) {
  return reinterpret_cast<const std::uint8_t*>(encoded.bytes.data());
}

}  // namespace

ImageSize webp_size(const EncodedImage& encoded) {
  WebPBitstreamFeatures features;
  const VP8StatusCode status =
      WebPGetFeatures(webp_bytes(encoded), encoded.bytes.size(), &features);
  if (status != VP8_STATUS_OK) {
    bad_file(encoded.name, status == VP8_STATUS_NOT_ENOUGH_DATA
                               ? "is truncated: it ends in its header"
                               : "is damaged: its header is not that of a WebP file");
  }
  return {features.height, features.width};
}

Image decode_webp(const EncodedImage& encoded, ImageSize size, int channels) {
  // As an animation, which any file may be read as: so Pillow does.
  const WebPData data{webp_bytes(encoded), encoded.bytes.size()};
  WebPAnimDecoderOptions options;
  TY_CHECK(WebPAnimDecoderOptionsInit(&options) != 0, "libwebp of another version");
  options.color_mode = MODE_RGBA;
  const std::unique_ptr<WebPAnimDecoder, void (*)(WebPAnimDecoder*)> decoder(
      WebPAnimDecoderNew(&data, &options), WebPAnimDecoderDelete);
  std::uint8_t* pixels = nullptr;
  int milliseconds = 0;
  WebPAnimInfo info{};
  const bool decoded = decoder && WebPAnimDecoderGetInfo(decoder.get(), &info) != 0 &&
                       info.canvas_height == size.h && info.canvas_width == size.w &&
                       WebPAnimDecoderGetNext(decoder.get(), &pixels, &milliseconds) != 0;
  if (!decoded) bad_file(encoded.name, "cannot be decoded as WebP; it is truncated or damaged");
  Image image(size, 3);
  std::uint8_t* to = image.row(0);
  for (std::int64_t i = 0; i < size.pixels(); ++i) std::copy_n(pixels + 4 * i, 3, to + 3 * i);
  return channels == 1 ? grey_of(image) : std::move(image);
}

}  // namespace trainyard

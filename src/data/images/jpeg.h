// JPEG files, through libjpeg-turbo.
//
// A JPEG has no checksum: a damaged one may decode to wrong pixels. What libjpeg-turbo notices is
// an error here, except what leaves the pixels whole (bytes between segments, unknown versions).
#pragma once

#include "data/images/image.h"
#include "data/images/image_decode.h"

namespace trainyard {

struct JpegHeader {
  ImageSize stored;
  Orientation orientation;
  [[nodiscard]] ImageSize size() const { return orientation.turned(stored); }
};

/// Reads up to the first scan. Throws Error{data}: damage, a size beyond `max_pixels`.
[[nodiscard]] JpegHeader jpeg_header(const EncodedImage& encoded);

/// A part of an image that is decoded at 1 / `reduction` of its size (1, 2, 4 or 8), which is
/// ceil(h / reduction) x ceil(w / reduction); rows and columns are those of the reduced image.
struct ImagePart {
  int reduction = 1;
  std::int64_t top = 0, left = 0;
  ImageSize size;
};

/// Decodes a part of the image as it is stored, with the pixels that decoding all of it gives:
/// the accurate integer DCT, and chroma interpolated between samples (libjpeg's defaults, also
/// Pillow's). What follows the part's last row is not looked at. CMYK and YCCK images, which are
/// stored inverted as Adobe's programs write them, become red, green and blue by K - (255 - C) K /
/// 255. Throws Error{data} for damage and for more than 100 scans.
[[nodiscard]] Image decode_jpeg(const EncodedImage& encoded, int channels, const ImagePart& part);

}  // namespace trainyard

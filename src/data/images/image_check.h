// Checks properties of an image that stb_image relies on without checking, before it decodes.
#pragma once

#include "data/images/image_decode.h"

namespace trainyard {

/// Throws Error{data} for a size without pixels or of more than the image's `max_pixels`.
void check_claim(const EncodedImage& image, const ImageSize& size);

/// Every chunk of a PNG is inside the file and has its CRC-32 (PNG specification, 5.3), up to IEND.
/// Throws Error{data}.
void check_png(const EncodedImage& image);

}  // namespace trainyard

// WebP files, through libwebp.
#pragma once

#include "data/images/image_decode.h"
#include "data/images/picture.h"

namespace trainyard {

/// The size that the header claims. Throws Error{data} for a damaged header.
[[nodiscard]] ImageSize webp_size(const EncodedImage& image);

/// Decodes an image of `size` = webp_size(), of an animation the first picture; an alpha channel is
/// dropped. Throws Error{data} for a damaged file.
[[nodiscard]] Picture decode_webp(const EncodedImage& image, ImageSize size, int channels);

}  // namespace trainyard

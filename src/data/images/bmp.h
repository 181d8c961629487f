// BMP files, decoded by stb_image.
#pragma once

#include "data/images/image_decode.h"
#include "data/images/picture.h"

namespace trainyard {

/// Decodes a BMP of `size` = stb_size(). A colour that its palette lacks is black, as for Pillow.
/// Throws Error{data} for a damaged file.
[[nodiscard]] Picture decode_bmp(const EncodedImage& image, ImageSize size, int channels);

}  // namespace trainyard

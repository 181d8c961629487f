// PNG and BMP files, through stb_image, within a budget of memory.
#pragma once

#include "data/image_decode.h"
#include "data/picture.h"

namespace trainyard {

/// The size that the header claims. Throws Error{data} for a file that is neither PNG nor BMP, or
/// has more than 16,384 pixels per side.
[[nodiscard]] ImageSize stb_size(const EncodedImage& image);

/// Decodes an image of `size` = stb_size(). Throws Error{data} for a damaged file.
[[nodiscard]] Picture stb_decode(const EncodedImage& image, ImageSize size, int channels);

}  // namespace trainyard

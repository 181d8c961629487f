// PNG, BMP and GIF files, through stb_image, within a budget of memory.
#pragma once

#include <memory>

#include "data/images/image_decode.h"
#include "data/images/picture.h"

namespace trainyard {

/// The size that the header claims. Throws Error{data} for a file that is none of the three,
/// or has more than 16,384 pixels per side.
[[nodiscard]] ImageSize stb_size(const EncodedImage& image);

/// Pixels as stb_image gives them, [h, w, channels].
using StbPixels = std::unique_ptr<std::uint8_t, void (*)(void*)>;
/// Decodes an image of `size` = stb_size() without further checks. Throws Error{data} for a damaged
/// file.
[[nodiscard]] StbPixels stb_pixels(const EncodedImage& image, ImageSize size, int channels);

/// Decodes a PNG or BMP of `size` = stb_size(), without checks of what stb relies on. Throws
/// Error{data} for a damaged file.
[[nodiscard]] Picture stb_decode(const EncodedImage& image, ImageSize size, int channels);

}  // namespace trainyard

// The first picture of GIF files, decoded by stb_image.
#pragma once

#include "data/images/image_decode.h"
#include "data/images/picture.h"

namespace trainyard {

/// Up to the palette.
inline constexpr std::size_t kGifHeaderBytes = 13;

/// Decodes the first picture of a GIF of `size` = stb_size(). A transparent pixel has its colour in
/// the palette, and so have pixels around a picture that is smaller than the GIF: that of the
/// transparent index, or of index 0, as Pillow gives them. Throws Error{data} for a file that ends
/// before the end of the picture, and for other damage.
[[nodiscard]] Picture decode_gif(const EncodedImage& image, ImageSize size, int channels);

}  // namespace trainyard

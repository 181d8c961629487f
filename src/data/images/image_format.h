// Which format a picture's bytes have. File names are not looked at.
#pragma once

#include "data/images/image_decode.h"

namespace trainyard {

/// For messages.
inline constexpr const char* kImageFormats = "JPEG, PNG, WebP, GIF or BMP";

enum class ImageFormat { png, bmp, jpeg, gif, webp };

/// Recognises a format by its first bytes. Throws Error{data} for an empty file and for any other
/// format, naming it if it is a known one (TIFF, JPEG 2000, HEIF).
[[nodiscard]] ImageFormat image_format(const EncodedImage& image);

}  // namespace trainyard

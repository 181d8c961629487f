// Which format an image's bytes have. File names are not looked at.
#pragma once

#include "data/images/image_decode.h"

namespace trainyard {

/// For messages.
inline constexpr const char* kImageFormats = "JPEG, PNG, WebP, GIF or BMP";

enum class ImageFormat { png, bmp, jpeg, gif, webp };

/// Recognises a format by its first bytes. Throws Error{data} for an empty file and for any other
/// format, naming it if it is a known one (TIFF, JPEG 2000, HEIF).
[[nodiscard]] ImageFormat image_format(const EncodedImage& encoded);

// Checks properties of an image that stb_image relies on without checking, before it decodes.

/// Throws Error{data} for a size without pixels or of more than the image's `max_pixels`.
void check_claim(const EncodedImage& encoded, const ImageSize& size);

/// Every chunk of a PNG is inside the file and has its CRC-32 (PNG specification, 5.3), up to IEND.
/// Throws Error{data}.
void check_png(const EncodedImage& encoded);

}  // namespace trainyard

// The decoders of PNG, BMP, GIF and WebP files, and how formats are recognised; stb_image works
// within a budget of memory.
#pragma once

#include <memory>

#include "data/images/image.h"
#include "data/images/image_decode.h"

namespace trainyard {

/// The size that the header claims. Throws Error{data} for a file that is none of the three,
/// or has more than 16,384 pixels per side.
[[nodiscard]] ImageSize stb_size(const EncodedImage& encoded);

/// Pixels as stb_image gives them, [h, w, channels].
using StbPixels = std::unique_ptr<std::uint8_t, void (*)(void*)>;
/// Decodes an image of `size` = stb_size() without further checks. Throws Error{data} for a damaged
/// file.
[[nodiscard]] StbPixels stb_pixels(const EncodedImage& encoded, ImageSize size, int channels);

/// Decodes a PNG or BMP of `size` = stb_size(), without checks of what stb relies on. Throws
/// Error{data} for a damaged file.
[[nodiscard]] Image stb_decode(const EncodedImage& encoded, ImageSize size, int channels);

// The first image of GIF files, decoded by stb_image.

/// Up to the palette.
inline constexpr std::size_t kGifHeaderBytes = 13;

/// Decodes the first image of a GIF of `size` = stb_size(). A transparent pixel has its colour in
/// the palette, and so have pixels around an image that is smaller than the GIF: that of the
/// transparent index, or of index 0, as Pillow gives them. Throws Error{data} for a file that ends
/// before the end of the image, and for other damage.
[[nodiscard]] Image decode_gif(const EncodedImage& encoded, ImageSize size, int channels);

// BMP files, decoded by stb_image.

/// Decodes a BMP of `size` = stb_size(). A colour that its palette lacks is black, as for Pillow.
/// Throws Error{data} for a damaged file.
[[nodiscard]] Image decode_bmp(const EncodedImage& encoded, ImageSize size, int channels);

// WebP files, through libwebp.

/// The size that the header claims. Throws Error{data} for a damaged header.
[[nodiscard]] ImageSize webp_size(const EncodedImage& encoded);

/// Decodes an image of `size` = webp_size(), of an animation the first image; an alpha channel is
/// dropped. Throws Error{data} for a damaged file.
[[nodiscard]] Image decode_webp(const EncodedImage& encoded, ImageSize size, int channels);

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

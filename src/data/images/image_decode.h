// Decodes JPEG, PNG, WebP, GIF and BMP files to bytes, within limits. The format is recognised by
// the first bytes, not by a file's name.
//
// The checksums of PNG chunks are checked (stb_image does not); the others have none, so a
// damaged one may decode to wrong pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/filesystem.h"
#include "data/images/image.h"

namespace trainyard {

/// Pixels (not bytes) that an image may claim. The sides of a PNG, GIF or BMP are at most
/// 16,384 as well, those of a JPEG 65,500.
inline constexpr std::int64_t kDefaultMaxPixels = std::int64_t{64} << 20;

/// A file in memory.
struct EncodedImage {
  std::span<const std::byte> bytes;
  std::string name;  // for messages
  std::int64_t max_pixels = kDefaultMaxPixels;
};

/// The size that the header claims, upright: of a JPEG with an Exif orientation after turning it.
/// Throws Error{data} for other formats and for an image beyond the limits. Decodes nothing.
[[nodiscard]] ImageSize image_size(const EncodedImage& encoded);

/// Decodes to 1 (grey) or 3 (red, green, blue) channels, upright; an alpha channel is dropped, 16
/// bits become 8 (the higher ones), of an animated PNG the still image is taken, of an animated
/// GIF or WebP the first one. Temporary memory is bounded by the claimed size and the file's.
/// Throws Error{data} for a damaged file.
[[nodiscard]] Image decode_image(const EncodedImage& encoded, int channels);

// An image in a file.

/// The upright size in the header of an image file, of which no more than the start is read if the
/// header is there. Throws Error{data}: not an image, more than `max_pixels`.
[[nodiscard]] ImageSize image_file_size(const fs::path& path, std::int64_t max_pixels);

/// The image, decoded to 1 or 3 channels, upright; `hash`, if given, gets the XXH3-128 of the
/// file. Throws Error{data} for a damaged one.
[[nodiscard]] Image read_image_file(const fs::path& path, int channels, std::int64_t max_pixels,
                                    std::string* hash = nullptr);

// The decoders of PNG, BMP, GIF and WebP files, and how formats are recognised; stb_image works
// within a budget of memory.

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

}  // namespace trainyard

// Decodes JPEG, PNG, WebP, GIF and BMP files to bytes, within limits. The format is recognised by
// the first bytes, not by a file's name.
//
// The checksums of PNG chunks are checked (stb_image does not); the others have none, so a
// damaged one may decode to wrong pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

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
[[nodiscard]] ImageSize image_file_size(const std::filesystem::path& path, std::int64_t max_pixels);

/// The image, decoded to 1 or 3 channels, upright; `hash`, if given, gets the XXH3-128 of the
/// file. Throws Error{data} for a damaged one.
[[nodiscard]] Image read_image_file(const std::filesystem::path& path, int channels,
                                    std::int64_t max_pixels, std::string* hash = nullptr);

}  // namespace trainyard

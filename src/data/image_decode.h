// Decodes PNG and BMP files to bytes, through stb_image, within limits.
//
// The checksums of PNG chunks are checked (stb_image does not); BMP has none, so a damaged BMP may
// decode to wrong pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace trainyard {

/// Pixels (not bytes) that an image may claim; its sides are at most 16,384 as well.
inline constexpr std::int64_t kDefaultMaxPixels = std::int64_t{64} << 20;

/// A file in memory.
struct EncodedImage {
  std::span<const std::byte> bytes;
  std::string name;  // for messages
  std::int64_t max_pixels = kDefaultMaxPixels;
};

struct ImageSize {
  std::int64_t h = 0;
  std::int64_t w = 0;
  bool operator==(const ImageSize&) const = default;
};

/// The size that the header claims. Throws Error{data} for anything but a PNG or BMP file and for
/// an image beyond the limits. Decodes nothing.
[[nodiscard]] ImageSize image_size(const EncodedImage& image);

/// Decodes to [channels, h, w], channels 1 (grey) or 3 (red, green, blue); an alpha channel is
/// dropped, 16 bits become 8. `out` has channels * h * w elements of image_size(). Temporary memory
/// is bounded by the claimed size and the file's. Throws Error{data} for a damaged file.
void decode_image(const EncodedImage& image, int channels, std::span<std::uint8_t> out);

}  // namespace trainyard

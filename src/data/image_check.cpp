#include "data/image_check.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "data/bad_file.h"

namespace trainyard {

namespace {

constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";

std::string_view text_of(const EncodedImage& image) {
  return {reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()};
}

std::uint32_t little_endian(const EncodedImage& image, std::size_t offset, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes; i > 0; --i) {
    value = (value << 8) | std::to_integer<std::uint32_t>(image.bytes[offset + i - 1]);
  }
  return value;
}

std::uint32_t big_endian(std::string_view text) {
  std::uint32_t value = 0;
  for (const char letter : text.substr(0, 4))
    value = (value << 8) | static_cast<unsigned char>(letter);
  return value;
}

std::uint32_t checksum(std::string_view text) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

/// A chunk is its length, four letters, that many bytes, and the CRC-32 of letters and bytes.
void check_png(const EncodedImage& image) {
  constexpr std::size_t kFrame = 12;  // length, letters, checksum
  const std::string_view text = text_of(image);
  std::size_t at = kPngSignature.size();
  for (std::string_view type; type != "IEND";) {
    const std::string where = "at byte " + std::to_string(at);
    const bool framed = text.size() - at >= kFrame;
    const std::size_t length = framed ? big_endian(text.substr(at)) : 0;
    if (!framed || length > text.size() - at - kFrame) {
      bad_file(image.name, "is truncated: the chunk " + where + " extends beyond the file's " +
                               std::to_string(text.size()) + " bytes");
    }
    type = text.substr(at + 4, 4);
    if (checksum(text.substr(at + 4, 4 + length)) != big_endian(text.substr(at + 8 + length))) {
      bad_file(image.name, "is damaged: the chunk " + where + " does not match its checksum");
    }
    if (type == "IDAT" && length == 0)
      bad_file(image.name, "is damaged: the chunk " + where + " is empty");
    at += kFrame + length;
  }
}

/// BITMAPFILEHEADER, then BITMAPINFOHEADER or the shorter core header. stb reads zeros past the end
/// of the file, and colours that a short palette lacks from uninitialised memory.
void check_bmp(const EncodedImage& image, const ImageSize& size) {
  constexpr std::size_t kSmallestHeader = 14 + 16;
  constexpr std::uint32_t kCoreHeader = 12;
  if (image.bytes.size() < kSmallestHeader)
    bad_file(image.name, "is truncated: it ends in its header");
  const std::uint32_t pixels_at = little_endian(image, 10, 4);
  const bool core = little_endian(image, 14, 4) == kCoreHeader;
  const std::uint64_t bits = little_endian(image, core ? 24 : 28, 2);
  const std::int64_t colors =
      core ? (std::int64_t{pixels_at} - 38) / 3
           : (std::int64_t{pixels_at} - 14 - little_endian(image, 14, 4)) / 4;  // as stb counts
  if (bits <= 8 && colors < (std::int64_t{1} << bits)) {
    bad_file(image.name, "has a palette of " + std::to_string(std::max<std::int64_t>(colors, 0)) +
                             " colours, expected " + std::to_string(std::int64_t{1} << bits) +
                             "; convert it to PNG");
  }
  const std::uint64_t row = (bits * static_cast<std::uint64_t>(size.w) + 31) / 32 * 4;
  const std::uint64_t need = pixels_at + row * static_cast<std::uint64_t>(size.h);
  if (image.bytes.size() >= need) return;
  bad_file(image.name, "is truncated: " + std::to_string(image.bytes.size()) + " bytes, " +
                           std::to_string(need) + " expected from its header");
}

}  // namespace

void check_claim(const EncodedImage& image, const ImageSize& size) {
  if (size.h >= 1 && size.w >= 1 && size.pixels() <= image.max_pixels) return;
  bad_file(image.name, "claims " + std::to_string(size.w) + " x " + std::to_string(size.h) +
                           " pixels, expected at least one and at most max_pixels = " +
                           std::to_string(image.max_pixels));
}

void check_image(const EncodedImage& image, const ImageSize& size) {
  const std::string_view text = text_of(image);
  if (text.starts_with(kPngSignature)) check_png(image);
  if (text.starts_with("BM")) check_bmp(image, size);
}

}  // namespace trainyard

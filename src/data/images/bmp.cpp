#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/error.h"
#include "data/images/decoders.h"

namespace trainyard {

namespace {

std::uint32_t little_endian(const EncodedImage& encoded, std::size_t offset, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes; i > 0; --i) {
    value = (value << 8) | std::to_integer<std::uint32_t>(encoded.bytes[offset + i - 1]);
  }
  return value;
}

/// BITMAPFILEHEADER, then BITMAPINFOHEADER or a longer one, or the shorter core header.
struct BmpHeader {
  std::size_t palette_at = 0, pixels_at = 0;
  std::uint64_t bits = 0;  // bits of a pixel
  bool core = false;
  std::uint64_t colours = 0;  // in the palette

  [[nodiscard]] bool has_indices() const { return bits <= 8; }
  [[nodiscard]] std::size_t entry() const { return core ? 3 : 4; }  // bytes of a colour
};

BmpHeader header_of(const EncodedImage& encoded) {
  constexpr std::size_t kSmallestHeader = 14 + 16, kWithColours = 14 + 36;
  constexpr std::uint32_t kCoreHeader = 12;
  if (encoded.bytes.size() < kSmallestHeader)
    bad_file(encoded.name, "is truncated: it ends in its header");
  const std::size_t info = little_endian(encoded, 14, 4);
  const bool core = info == kCoreHeader;
  BmpHeader header{.palette_at = 14 + info,
                   .pixels_at = little_endian(encoded, 10, 4),
                   .bits = little_endian(encoded, core ? 24 : 28, 2),
                   .core = core};
  const std::size_t room = header.pixels_at - std::min(header.pixels_at, header.palette_at);
  header.colours = room / header.entry();
  if (core || encoded.bytes.size() < kWithColours) return header;
  const std::uint64_t used = little_endian(encoded, 46, 4);  // 0: not told
  if (used > 0) header.colours = std::min(header.colours, used);
  return header;
}

/// stb reads zeros past the end of the file.
void check_bmp(const EncodedImage& encoded, const BmpHeader& header, ImageSize size) {
  if (header.has_indices() && header.colours == 0) {
    bad_file(encoded.name, "is damaged: its pixels are indices, but it has no palette");
  }
  const std::uint64_t row = (header.bits * static_cast<std::uint64_t>(size.w) + 31) / 32 * 4;
  const std::uint64_t need = header.pixels_at + row * static_cast<std::uint64_t>(size.h);
  if (encoded.bytes.size() >= need) return;
  bad_file(encoded.name, "is truncated: " + std::to_string(encoded.bytes.size()) + " bytes, " +
                             std::to_string(need) + " expected from its header");
}

/// The file with a colour for every index and no more: stb reads colours that a palette lacks from
/// uninitialised memory, and refuses more than 256.
std::vector<std::byte> with_whole_palette(const EncodedImage& encoded, const BmpHeader& header) {
  const std::size_t whole = (std::size_t{1} << header.bits) * header.entry();
  const std::size_t given = std::min<std::size_t>(header.colours * header.entry(), whole);
  const std::size_t gap = header.core ? 12 : 0;  // stb takes the core header for one of 24 bytes
  const std::size_t pixels_at = header.palette_at + whole + gap;
  std::vector<std::byte> file(
      encoded.bytes.begin(),
      encoded.bytes.begin() + static_cast<std::ptrdiff_t>(header.palette_at + given));
  file.resize(pixels_at);
  file.insert(file.end(), encoded.bytes.begin() + static_cast<std::ptrdiff_t>(header.pixels_at),
              encoded.bytes.end());
  for (std::size_t i = 0; i < 4; ++i) file[10 + i] = static_cast<std::byte>(pixels_at >> (8 * i));
  return file;
}

}  // namespace

Image decode_bmp(const EncodedImage& encoded, ImageSize size, int channels) {
  const BmpHeader header = header_of(encoded);
  check_bmp(encoded, header, size);
  if (!header.has_indices()) return stb_decode(encoded, size, channels);
  const std::vector<std::byte> whole = with_whole_palette(encoded, header);
  return stb_decode({whole, encoded.name, encoded.max_pixels}, size, channels);
}

}  // namespace trainyard

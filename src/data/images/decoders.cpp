#include "data/images/decoders.h"

#include <zlib.h>

#include <array>
#include <string_view>

#include "base/error.h"

namespace trainyard {

namespace {

using std::string_view_literals::operator""sv;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name;
};

constexpr std::array kOthers{
    Signature{0, "II*\0"sv, "a TIFF"},
    Signature{0, "MM\0*"sv, "a TIFF"},
    Signature{4, "jP  \r\n", "a JPEG 2000"},
    Signature{4, "ftyp", "a HEIF or AVIF"},
};

}  // namespace

ImageFormat image_format(const EncodedImage& encoded) {
  const std::string_view text(reinterpret_cast<const char*>(encoded.bytes.data()),
                              encoded.bytes.size());
  if (text.empty()) bad_file(encoded.name, "is empty; get the image again or remove it");
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::png;
  if (text.starts_with("\xff\xd8\xff")) return ImageFormat::jpeg;
  if (text.starts_with("BM")) return ImageFormat::bmp;
  if (text.starts_with("GIF8")) return ImageFormat::gif;
  if (text.starts_with("RIFF") && text.substr(0, 12).ends_with("WEBP")) return ImageFormat::webp;
  for (const Signature& other : kOthers) {
    if (text.size() < other.offset || !text.substr(other.offset).starts_with(other.bytes)) continue;
    bad_file(encoded.name, "is " + std::string(other.name) + " file, expected " + kImageFormats +
                               "; convert it, for instance to PNG");
  }
  bad_file(encoded.name, "is not a " + std::string(kImageFormats) +
                             " file: its first bytes are of none of them; convert or remove it");
}

namespace {

constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";

std::string_view text_of(const EncodedImage& encoded) {
  return {reinterpret_cast<const char*>(encoded.bytes.data()), encoded.bytes.size()};
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

}  // namespace

void check_claim(const EncodedImage& encoded, const ImageSize& size) {
  if (size.h >= 1 && size.w >= 1 && size.pixels() <= encoded.max_pixels) return;
  bad_file(encoded.name, "claims " + std::to_string(size.w) + " x " + std::to_string(size.h) +
                             " pixels, expected at least one and at most max_pixels = " +
                             std::to_string(encoded.max_pixels));
}

/// A chunk is its length, four letters, that many bytes, and the CRC-32 of letters and bytes.
void check_png(const EncodedImage& encoded) {
  constexpr std::size_t kFrame = 12;  // length, letters, checksum
  const std::string_view text = text_of(encoded);
  std::size_t at = kPngSignature.size();
  for (std::string_view type; type != "IEND";) {
    const std::string where = "at byte " + std::to_string(at);
    const bool framed = text.size() - at >= kFrame;
    const std::size_t length = framed ? big_endian(text.substr(at)) : 0;
    if (!framed || length > text.size() - at - kFrame) {
      bad_file(encoded.name, "is truncated: the chunk " + where + " extends beyond the file's " +
                                 std::to_string(text.size()) + " bytes");
    }
    type = text.substr(at + 4, 4);
    if (checksum(text.substr(at + 4, 4 + length)) != big_endian(text.substr(at + 8 + length))) {
      bad_file(encoded.name, "is damaged: the chunk " + where + " does not match its checksum");
    }
    if (type == "IDAT" && length == 0)
      bad_file(encoded.name, "is damaged: the chunk " + where + " is empty");
    at += kFrame + length;
  }
}

}  // namespace trainyard

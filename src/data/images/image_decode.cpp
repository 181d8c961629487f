#include "data/images/image_decode.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "data/images/jpeg.h"

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

Image upright_jpeg(const EncodedImage& encoded, int channels) {
  const JpegHeader header = jpeg_header(encoded);
  Image stored = decode_jpeg(encoded, channels, {.size = header.stored});
  return header.orientation.value == 1 ? std::move(stored) : turned(stored, header.orientation);
}

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

/// Every chunk of a PNG is inside the file and has its CRC-32 (PNG specification, 5.3), up to IEND.
/// Throws Error{data}.
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

}  // namespace

void check_claim(const EncodedImage& encoded, const ImageSize& size) {
  if (size.h >= 1 && size.w >= 1 && size.pixels() <= encoded.max_pixels) return;
  bad_file(encoded.name, "claims " + std::to_string(size.w) + " x " + std::to_string(size.h) +
                             " pixels, expected at least one and at most max_pixels = " +
                             std::to_string(encoded.max_pixels));
}

ImageSize image_size(const EncodedImage& encoded) {
  const ImageFormat format = image_format(encoded);
  if (format == ImageFormat::jpeg) return jpeg_header(encoded).size();
  if (format == ImageFormat::gif && encoded.bytes.size() < kGifHeaderBytes) {
    bad_file(encoded.name, "is truncated: it ends in its header");
  }
  const ImageSize size = format == ImageFormat::webp ? webp_size(encoded) : stb_size(encoded);
  check_claim(encoded, size);
  return size;
}

Image decode_image(const EncodedImage& encoded, int channels) {
  const ImageFormat format = image_format(encoded);
  if (format == ImageFormat::jpeg) return upright_jpeg(encoded, channels);
  const ImageSize size = image_size(encoded);
  if (format == ImageFormat::webp) return decode_webp(encoded, size, channels);
  if (format == ImageFormat::gif) return decode_gif(encoded, size, channels);
  if (format == ImageFormat::bmp) return decode_bmp(encoded, size, channels);
  check_png(encoded);
  return stb_decode(encoded, size, channels);
}

namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

std::vector<std::byte> file_bytes(const fs::path& path) {
  return read_bytes(path, ErrorKind::data, kMostFileBytes);
}

}  // namespace

ImageSize image_file_size(const fs::path& path, std::int64_t max_pixels) {
  constexpr std::uint64_t kStart = 1 << 16;
  const InputFile file(path, ErrorKind::data);
  std::vector<std::byte> start(std::min(file.size(), kStart));
  file.read(0, start);
  try {
    return image_size({start, path.string(), max_pixels});
  } catch (const Error&) {
    if (start.size() == file.size()) throw;
  }
  // The header is longer (metadata), or wrong.
  return image_size({file_bytes(path), path.string(), max_pixels});
}

Image read_image_file(const fs::path& path, int channels, std::int64_t max_pixels,
                      std::string* hash) {
  const std::vector<std::byte> bytes = file_bytes(path);
  Image image = decode_image({bytes, path.string(), max_pixels}, channels);
  if (hash != nullptr) *hash = hash128_hex(bytes);
  return image;
}

}  // namespace trainyard

#include "data/images/image_decode.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "data/images/decoders.h"
#include "data/images/jpeg.h"

namespace trainyard {

namespace {

Image upright_jpeg(const EncodedImage& encoded, int channels) {
  const JpegHeader header = jpeg_header(encoded);
  Image stored = decode_jpeg(encoded, channels, {.size = header.stored});
  return header.orientation.value == 1 ? std::move(stored) : turned(stored, header.orientation);
}

}  // namespace

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

std::vector<std::byte> file_bytes(const std::filesystem::path& path) {
  return read_bytes(path, ErrorKind::data, kMostFileBytes);
}

}  // namespace

ImageSize image_file_size(const std::filesystem::path& path, std::int64_t max_pixels) {
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

Image read_image_file(const std::filesystem::path& path, int channels, std::int64_t max_pixels,
                      std::string* hash) {
  const std::vector<std::byte> bytes = file_bytes(path);
  Image image = decode_image({bytes, path.string(), max_pixels}, channels);
  if (hash != nullptr) *hash = hash128_hex(bytes);
  return image;
}

}  // namespace trainyard

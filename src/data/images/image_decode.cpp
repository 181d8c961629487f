#include "data/images/image_decode.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/bad_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "data/images/decoders.h"
#include "data/images/image_format.h"
#include "data/images/jpeg.h"

namespace trainyard {

namespace {

Picture upright_jpeg(const EncodedImage& image, int channels) {
  const JpegHeader header = jpeg_header(image);
  Picture stored = decode_jpeg(image, channels, {.size = header.stored});
  return header.orientation.value == 1 ? std::move(stored) : turned(stored, header.orientation);
}

}  // namespace

ImageSize image_size(const EncodedImage& image) {
  const ImageFormat format = image_format(image);
  if (format == ImageFormat::jpeg) return jpeg_header(image).size();
  if (format == ImageFormat::gif && image.bytes.size() < kGifHeaderBytes) {
    bad_file(image.name, "is truncated: it ends in its header");
  }
  const ImageSize size = format == ImageFormat::webp ? webp_size(image) : stb_size(image);
  check_claim(image, size);
  return size;
}

Picture decode_picture(const EncodedImage& image, int channels) {
  const ImageFormat format = image_format(image);
  if (format == ImageFormat::jpeg) return upright_jpeg(image, channels);
  const ImageSize size = image_size(image);
  if (format == ImageFormat::webp) return decode_webp(image, size, channels);
  if (format == ImageFormat::gif) return decode_gif(image, size, channels);
  if (format == ImageFormat::bmp) return decode_bmp(image, size, channels);
  check_png(image);
  return stb_decode(image, size, channels);
}

void decode_image(const EncodedImage& image, int channels, std::span<std::uint8_t> out) {
  const Picture picture = decode_picture(image, channels);
  TY_CHECK(std::ssize(out) == picture.size().pixels() * channels,
           "planes of another size than the picture");
  copy_planes(picture, out.data());
}

namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30;

std::vector<std::byte> file_bytes(const std::filesystem::path& path) {
  return read_bytes(path, ErrorKind::data, kMostFileBytes);
}

}  // namespace

ImageSize picture_file_size(const std::filesystem::path& path, std::int64_t max_pixels) {
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

Picture read_picture_file(const std::filesystem::path& path, int channels, std::int64_t max_pixels,
                          std::string* hash) {
  const std::vector<std::byte> bytes = file_bytes(path);
  Picture picture = decode_picture({bytes, path.string(), max_pixels}, channels);
  if (hash != nullptr) *hash = hash128_hex(bytes);
  return picture;
}

}  // namespace trainyard

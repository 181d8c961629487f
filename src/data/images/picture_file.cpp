#include "data/images/picture_file.h"

#include <algorithm>
#include <vector>

#include "base/bad_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "data/images/image_decode.h"

namespace trainyard {

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

#include "data/images/png_write.h"

#include <zlib.h>

#include <string_view>

#include "base/error.h"

namespace trainyard {

namespace {

std::string four_bytes(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

/// Length, letters, bytes and the CRC-32 of letters and bytes (PNG specification, 5.3).
std::string png_chunk(std::string_view letters, const std::string& bytes) {
  const std::string checked = std::string(letters) + bytes;
  const auto crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(checked.data()), checked.size()));
  return four_bytes(static_cast<std::uint32_t>(bytes.size())) + checked + four_bytes(crc);
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int status = compress(reinterpret_cast<Bytef*>(out.data()), &size,
                              reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  TY_CHECK(status == Z_OK, "zlib cannot compress");
  out.resize(size);
  return out;
}

}  // namespace

std::string png_of_image(const Image& image) {
  constexpr char kGrey = 0, kColor = 2;
  const ImageSize size = image.size();
  std::string rows;
  for (std::int64_t y = 0; y < size.h; ++y) {
    rows += '\0';  // no filter
    rows.append(reinterpret_cast<const char*>(image.row(y)),
                static_cast<std::size_t>(size.w * image.channels()));
  }
  const std::string header = four_bytes(static_cast<std::uint32_t>(size.w)) +
                             four_bytes(static_cast<std::uint32_t>(size.h)) + '\x08' +
                             (image.channels() == 1 ? kGrey : kColor) + std::string(3, '\0');
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", deflated(rows)) +
         png_chunk("IEND", "");
}

}  // namespace trainyard

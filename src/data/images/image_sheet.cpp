#include "data/images/image_sheet.h"

#include <zlib.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "data/images/sheet_text.h"

namespace trainyard {

namespace {

constexpr std::int64_t kLeastCell = 128, kGap = 8;

/// The image at its size in the sheet: enlarged by a whole factor or made smaller.
Image shown(const Image& image, std::int64_t side) {
  const ImageSize size = image.size();
  const std::int64_t longest = std::max(size.h, size.w);
  if (longest <= side) {
    const std::int64_t factor = side / longest;
    Image large({size.h * factor, size.w * factor}, image.channels());
    for (std::int64_t y = 0; y < large.size().h; ++y) {
      for (std::int64_t x = 0; x < large.size().w; ++x) {
        std::copy_n(image.row(y / factor) + x / factor * image.channels(), image.channels(),
                    large.row(y) + x * image.channels());
      }
    }
    return large;
  }
  const ImageSize to{std::max<std::int64_t>(size.h * side / longest, 1),
                     std::max<std::int64_t>(size.w * side / longest, 1)};
  return resized(image, to, ResizeFilter::bilinear, whole_box(size));
}

/// A point of a sheet.
struct SheetPlace {
  std::int64_t y = 0, x = 0;
};

/// Copies a grey or coloured image into the coloured sheet.
void paste(const Image& image, const SheetPlace& at, Image& sheet) {
  const int channels = image.channels();
  for (std::int64_t y = 0; y < image.size().h; ++y) {
    const std::uint8_t* from = image.row(y);
    std::uint8_t* to = sheet.row(at.y + y) + 3 * at.x;
    for (std::int64_t x = 0; x < image.size().w; ++x, from += channels, to += 3) {
      for (int c = 0; c < 3; ++c) to[c] = from[channels == 3 ? c : 0];
    }
  }
}

/// The side of the square cells.
std::int64_t cell_side(const std::vector<SheetRow>& rows, std::int64_t most_side) {
  std::int64_t side = kLeastCell;
  for (const SheetRow& row : rows) {
    for (const SheetCell& cell : row) {
      const ImageSize size = cell.image.size();
      side = std::max(side, std::min(std::max(size.h, size.w), most_side));
    }
  }
  return side;
}

/// The lines of the longest text.
std::int64_t text_lines(const std::vector<SheetRow>& rows) {
  std::int64_t lines = 1;
  for (const SheetRow& row : rows) {
    for (const SheetCell& cell : row) {
      lines = std::max<std::int64_t>(lines, std::ranges::count(cell.text, '\n') + 1);
    }
  }
  return lines;
}

}  // namespace

Image image_sheet(const std::vector<SheetRow>& rows, std::int64_t most_side) {
  const std::int64_t side = cell_side(rows, most_side);
  const std::int64_t step_x = side + kGap, step_y = side + text_lines(rows) * kTextHeight + kGap;
  std::int64_t columns = 0;
  for (const SheetRow& row : rows) columns = std::max<std::int64_t>(columns, std::ssize(row));
  Image sheet({kGap + std::ssize(rows) * step_y, kGap + columns * step_x}, 3);
  std::fill_n(sheet.row(0), sheet.size().pixels() * 3, std::uint8_t{255});
  for (std::int64_t i = 0; i < std::ssize(rows); ++i) {
    const SheetRow& row = rows[static_cast<std::size_t>(i)];
    for (std::int64_t k = 0; k < std::ssize(row); ++k) {
      const SheetCell& cell = row[static_cast<std::size_t>(k)];
      const SheetPlace at{kGap + i * step_y, kGap + k * step_x};
      paste(shown(cell.image, side), at, sheet);
      std::int64_t y = at.y + side + 2;
      for (const std::string& line : split(cell.text, '\n')) {
        draw_text(line, {y, at.x, side}, sheet);
        y += kTextHeight;
      }
    }
  }
  return sheet;
}

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

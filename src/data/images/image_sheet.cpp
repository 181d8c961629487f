#include "data/images/image_sheet.h"

#include <stb/stb_truetype.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "data/images/image_resize.h"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION

// TRAINYARD_SHEET_FONT is the path of the font's file (CMakeLists.txt). This file is compiled by
// itself: ccache does not keep objects of files with .incbin.
__asm__(
    ".pushsection .rodata\n"
    "trainyard_sheet_font: .incbin \"" TRAINYARD_SHEET_FONT
    "\"\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" __attribute__((visibility("hidden"))) const unsigned char trainyard_sheet_font[];

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

constexpr float kEmPixels = 14.0F;
constexpr int kEllipsis = 0x2026, kReplacement = 0xfffd;

/// A character of a line: its glyph in the font and how far it moves the pen, pixels.
struct Glyph {
  int index = 0;
  float advance = 0;
};

class SheetFont {
 public:
  SheetFont() {
    TY_CHECK(stbtt_InitFont(&info_, trainyard_sheet_font, 0) != 0, "the font of sheets is damaged");
    scale_ = stbtt_ScaleForMappingEmToPixels(&info_, kEmPixels);
    int ascent = 0;
    stbtt_GetFontVMetrics(&info_, &ascent, nullptr, nullptr);
    baseline_ = std::lround(scale_ * static_cast<float>(ascent));
  }

  [[nodiscard]] Glyph glyph(int code_point) const {
    const int index = stbtt_FindGlyphIndex(&info_, code_point);
    int advance = 0;
    stbtt_GetGlyphHMetrics(&info_, index, &advance, nullptr);
    return {index, scale_ * static_cast<float>(advance)};
  }

  /// Darkens the pixels of a glyph whose pen is `pen` pixels right of the place.
  void draw(const Glyph& glyph, float pen, const SheetTextPlace& at, Image& image) {
    int left = 0, top = 0, right = 0, bottom = 0;
    const float whole = std::floor(pen);
    stbtt_GetGlyphBitmapBoxSubpixel(&info_, glyph.index, scale_, scale_, pen - whole, 0, &left,
                                    &top, &right, &bottom);
    const int width = right - left, height = bottom - top;
    if (width <= 0 || height <= 0) return;
    ink_.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    stbtt_MakeGlyphBitmapSubpixel(&info_, ink_.data(), width, height, width, scale_, scale_,
                                  pen - whole, 0, glyph.index);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        darken(baseline_ + top + y, static_cast<std::int64_t>(whole) + left + x,
               ink_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                    static_cast<std::size_t>(x)],
               at, image);
      }
    }
  }

 private:
  static void darken(std::int64_t y, std::int64_t x, int ink, const SheetTextPlace& at,
                     Image& image) {
    if (y < 0 || y >= kTextHeight || x < 0 || x >= at.width) return;
    std::uint8_t* const pixel = image.row(at.y + y) + 3 * (at.x + x);
    for (int c = 0; c < 3; ++c) pixel[c] = static_cast<std::uint8_t>(pixel[c] * (255 - ink) / 255);
  }

  stbtt_fontinfo info_{};
  float scale_ = 0;
  std::int64_t baseline_ = 0;
  std::vector<unsigned char> ink_;
};

/// Takes the first character off `text`, which is not empty.
int next_code_point(std::string_view& text) {
  const std::size_t length = utf8_length(text);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  int code_point = kReplacement;
  if (length == 1) code_point = byte(0);
  if (length > 1) {
    code_point = byte(0) & (0x7f >> length);
    for (std::size_t i = 1; i < length; ++i) code_point = code_point << 6 | (byte(i) & 0x3f);
  }
  text.remove_prefix(std::max<std::size_t>(length, 1));
  return code_point;
}

/// The glyphs of a line, cut to the width.
std::vector<Glyph> glyphs_of(std::string_view text, float width, const SheetFont& font) {
  const Glyph ellipsis = font.glyph(kEllipsis);
  std::vector<Glyph> glyphs;
  float pen = 0;
  std::size_t fitting = 0;  // beside the ellipsis
  while (!text.empty()) {
    glyphs.push_back(font.glyph(next_code_point(text)));
    pen += glyphs.back().advance;
    if (pen + ellipsis.advance <= width) fitting = glyphs.size();
    if (pen <= width) continue;
    glyphs.resize(fitting);
    glyphs.push_back(ellipsis);
    break;
  }
  return glyphs;
}

}  // namespace

void draw_text(std::string_view text, const SheetTextPlace& at, Image& image) {
  SheetFont font;
  float pen = 0;
  for (const Glyph& glyph : glyphs_of(text, static_cast<float>(at.width), font)) {
    font.draw(glyph, pen, at, image);
    pen += glyph.advance;
  }
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

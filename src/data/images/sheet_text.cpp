#include "data/images/sheet_text.h"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/text.h"

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

}  // namespace trainyard

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "data/images/image_decode.h"

namespace trainyard {
namespace {

// stb_image calls its allocator without context, so the budget has to be ambient: one per thread,
// set for the duration of one call by BudgetScope.
thread_local std::size_t budget_bytes = 0;

constexpr std::size_t kHeader = alignof(std::max_align_t);  // holds the block's size

class BudgetScope {
 public:
  explicit BudgetScope(std::size_t bytes) { budget_bytes = bytes; }
  ~BudgetScope() { budget_bytes = 0; }
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;
};

void* budget_malloc(std::size_t bytes) {
  if (bytes > budget_bytes) return nullptr;
  auto* block = static_cast<std::byte*>(std::malloc(bytes + kHeader));
  if (block == nullptr) return nullptr;
  std::memcpy(block, &bytes, sizeof bytes);
  budget_bytes -= bytes;
  return block + kHeader;
}

void budget_free(void* pointer) {
  if (pointer == nullptr) return;
  std::byte* block = static_cast<std::byte*>(pointer) - kHeader;
  std::size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof bytes);
  budget_bytes += bytes;
  std::free(block);
}

void* budget_realloc(void* pointer, std::size_t old_bytes, std::size_t bytes) {
  void* moved = budget_malloc(bytes);
  if (moved == nullptr) return nullptr;
  if (pointer != nullptr) std::memcpy(moved, pointer, std::min(old_bytes, bytes));
  budget_free(pointer);
  return moved;
}

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

constexpr std::size_t kRgbaBytes = 4;  // red, green, blue, alpha
using Colour = std::array<std::uint8_t, 3>;

/// Walks the blocks up to the end of the first frame (GIF89a specification, 18 to 23), and turns
/// its transparency off in a copy of the file, so that stb gives transparent pixels their colour.
class FirstFrame {
 public:
  explicit FirstFrame(const EncodedImage& encoded)
      : bytes_(encoded.bytes.begin(), encoded.bytes.end()), name_(encoded.name) {
    at_ = kGifHeaderBytes;
    const std::size_t global = at_;
    take_palette(number(10, 1), global);
    number(11, 1);
    bytes_[11] = std::byte{0};  // the background: stb would draw it where nothing is drawn
    while (next_byte() == kExtension) take_extension();
    take_image(global);
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// Whether the image has the pixel.
  [[nodiscard]] bool covers(std::int64_t y, std::int64_t x) const {
    return y >= top_ && y < top_ + size_.h && x >= left_ && x < left_ + size_.w;
  }
  [[nodiscard]] Colour around() const { return around_; }

 private:
  static constexpr std::size_t kExtension = 0x21, kControl = 0xf9, kHasPalette = 0x80;

  std::size_t number(std::size_t at, std::size_t count) const {
    if (at + count > bytes_.size()) {
      bad_file(name_, "is truncated: its first frame extends beyond the file's " +
                          std::to_string(bytes_.size()) + " bytes");
    }
    std::size_t value = 0;
    for (std::size_t i = count; i-- > 0;) {
      value = value << 8 | std::to_integer<std::size_t>(bytes_[at + i]);
    }
    return value;
  }
  std::size_t next_byte() { return number(at_++, 1); }
  /// Blocks of a length and so many bytes, up to one of length 0.
  void skip_blocks() {
    while (const std::size_t length = next_byte()) at_ += length;
  }
  /// Colours of a palette, if the flags say that one is here.
  void take_palette(std::size_t flags, std::size_t at) {
    if ((flags & kHasPalette) == 0) return;
    palette_at_ = at;
    at_ = at + 3 * (std::size_t{2} << (flags & 7));
  }
  void take_extension() {
    if (next_byte() == kControl && number(at_, 1) == 4) {
      const std::size_t flags = number(at_ + 1, 1);
      index_ = (flags & 1) != 0 ? number(at_ + 4, 1) : 0;
      bytes_[at_ + 1] = static_cast<std::byte>(flags & ~std::size_t{1});
    }
    skip_blocks();
  }
  void take_image(std::size_t global) {
    const auto extent = [&](std::size_t i) {
      return static_cast<std::int64_t>(number(at_ + 2 * i, 2));
    };
    left_ = extent(0), top_ = extent(1), size_ = {extent(3), extent(2)};
    palette_at_ = global;
    take_palette(number(at_ + 8, 1), at_ + 9);
    if (palette_at_ == global) at_ += 9;
    for (std::size_t i = 0; i < 3; ++i) {
      around_[i] = static_cast<std::uint8_t>(number(palette_at_ + 3 * index_ + i, 1));
    }
    ++at_;  // the number of bits of a first code
    skip_blocks();
  }

  std::vector<std::byte> bytes_;
  const std::string& name_;
  std::size_t at_ = 0, palette_at_ = 0;
  std::size_t index_ = 0;  // in the palette, of the colour around the image
  std::int64_t left_ = 0, top_ = 0;
  ImageSize size_;
  Colour around_{};
};

}  // namespace

}  // namespace trainyard

#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_MAX_DIMENSIONS 16384
#define STBI_MALLOC(bytes) trainyard::budget_malloc(bytes)
#define STBI_FREE(pointer) trainyard::budget_free(pointer)
#define STBI_REALLOC_SIZED(pointer, old_bytes, bytes) \
  trainyard::budget_realloc(pointer, old_bytes, bytes)
#define STBI_REALLOC(pointer, bytes) nullptr
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

namespace trainyard {

namespace {

const stbi_uc* data_of(const EncodedImage& encoded) {
  return reinterpret_cast<const stbi_uc*>(encoded.bytes.data());
}

int length_of(const EncodedImage& encoded) {
  if (encoded.bytes.size() > std::numeric_limits<int>::max()) {
    bad_file(encoded.name, "is larger than 2 GiB, too large for an image");
  }
  return static_cast<int>(encoded.bytes.size());
}

/// What stb may allocate: the decoded image, its unfiltered form of up to four 16-bit channels in a
/// buffer that doubles, the requested channels, and the compressed data.
std::size_t decode_budget(const EncodedImage& encoded, std::size_t pixels) {
  constexpr std::size_t kBytesAPixel = 48;
  constexpr std::size_t kFixed = 1 << 20;
  return pixels * kBytesAPixel + 4 * encoded.bytes.size() + kFixed;
}

}  // namespace

ImageSize stb_size(const EncodedImage& encoded) {
  const BudgetScope budget(decode_budget(encoded, 0));
  int w = 0;
  int h = 0;
  int channels = 0;
  if (stbi_info_from_memory(data_of(encoded), length_of(encoded), &w, &h, &channels) == 0) {
    // stb tries one format after the other, so its own reason is that of the last one.
    bad_file(
        encoded.name,
        "is not a readable PNG, GIF or BMP file: damaged in its header, or more than 16384 pixels "
        "per side; convert or remove it");
  }
  // The rows of a BMP are stored from top to bottom if its height is negative.
  return {h < 0 ? -std::int64_t{h} : std::int64_t{h}, w};
}

StbPixels stb_pixels(const EncodedImage& encoded, ImageSize size, int channels) {
  const BudgetScope budget(decode_budget(encoded, static_cast<std::size_t>(size.pixels())));
  stbi__g_failure_reason = nullptr;  // stb does not always set one: not that of another image
  int w = 0;
  int h = 0;
  int stored = 0;
  StbPixels decoded(
      stbi_load_from_memory(data_of(encoded), length_of(encoded), &w, &h, &stored, channels),
      stbi_image_free);
  if (decoded == nullptr) {
    const char* const reason = stbi_failure_reason();
    bad_file(encoded.name, "cannot be decoded (" + std::string(reason ? reason : "bad data") +
                               "); it is truncated or damaged");
  }
  TY_CHECK(w == size.w && h == size.h, "stb_image changed its mind on a size");
  return decoded;
}

Image stb_decode(const EncodedImage& encoded, ImageSize size, int channels) {
  int w = 0;
  int h = 0;
  int stored = 0;
  stbi_info_from_memory(data_of(encoded), length_of(encoded), &w, &h, &stored);
  const bool greyed = channels == 1 && stored >= 3;  // stb's own conversion truncates
  Image image(size, greyed ? 3 : channels);
  const StbPixels decoded = stb_pixels(encoded, size, image.channels());
  std::copy_n(decoded.get(), size.pixels() * image.channels(), image.row(0));
  return greyed ? grey_of(image) : std::move(image);
}

Image decode_bmp(const EncodedImage& encoded, ImageSize size, int channels) {
  const BmpHeader header = header_of(encoded);
  check_bmp(encoded, header, size);
  if (!header.has_indices()) return stb_decode(encoded, size, channels);
  const std::vector<std::byte> whole = with_whole_palette(encoded, header);
  return stb_decode({whole, encoded.name, encoded.max_pixels}, size, channels);
}

Image decode_gif(const EncodedImage& encoded, ImageSize size, int channels) {
  const FirstFrame first(encoded);
  const StbPixels drawn =
      stb_pixels({first.bytes(), encoded.name, encoded.max_pixels}, size, kRgbaBytes);
  Image image(size, 3);
  const std::uint8_t* from = drawn.get();
  for (std::int64_t y = 0; y < size.h; ++y) {
    std::uint8_t* to = image.row(y);
    for (std::int64_t x = 0; x < size.w; ++x, from += kRgbaBytes, to += 3) {
      const bool is_drawn = from[3] != 0;
      if (!is_drawn && first.covers(y, x)) {
        bad_file(encoded.name,
                 "is damaged: a pixel of its first frame is missing, or its palette "
                 "lacks the colour");
      }
      std::copy_n(is_drawn ? from : first.around().data(), 3, to);
    }
  }
  return channels == 1 ? grey_of(image) : std::move(image);
}

}  // namespace trainyard

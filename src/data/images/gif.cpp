#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "data/images/decoders.h"

namespace trainyard {

namespace {

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

#include "data/images/image.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace trainyard {

namespace {

/// The bytes of an image, of which every reader fills rows of 1 or 3 bytes a pixel.
std::size_t image_bytes(ImageSize size, int channels) {
  constexpr std::int64_t kMostSide = std::int64_t{1} << 30;
  TY_CHECK(channels == 1 || channels == 3, "an image has 1 or 3 channels");
  TY_CHECK(size.h >= 0 && size.w >= 0 && size.h <= kMostSide && size.w <= kMostSide,
           "an image has sides of up to 2^30 pixels");
  return static_cast<std::size_t>(size.pixels() * channels);
}

}  // namespace

Image::Image(ImageSize size, int channels)
    : size_(size),
      channels_(channels),
      pixels_(std::make_unique_for_overwrite<std::uint8_t[]>(image_bytes(size, channels))) {}

namespace {

/// A TIFF structure in memory; reading outside it gives 0.
class TiffReader {
 public:
  explicit TiffReader(std::span<const std::byte> bytes)
      : bytes_(bytes), big_(!bytes.empty() && bytes[0] == std::byte{'M'}) {}
  [[nodiscard]] std::uint64_t number(std::size_t offset, std::size_t count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = offset + (big_ ? i : count - 1 - i);
      value = (value << 8) | std::to_integer<std::uint64_t>(bytes_[at]);
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_;
};

template <class T>
void copy_to(const Image& image, T* planes) {
  const std::int64_t pixels = image.size().pixels();
  const int channels = image.channels();
  const std::uint8_t* from = image.row(0);
  for (int channel = 0; channel < channels; ++channel) {
    T* const plane = planes + channel * pixels;
    for (std::int64_t i = 0; i < pixels; ++i) plane[i] = from[i * channels + channel];
  }
}

}  // namespace

Orientation exif_orientation(std::span<const std::byte> segment) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  constexpr std::uint64_t kOrientation = 0x0112, kShort = 3;
  const std::string_view text(reinterpret_cast<const char*>(segment.data()), segment.size());
  if (!text.starts_with(kExif)) return {};
  const TiffReader tiff(segment.subspan(kExif.size()));
  const std::size_t table = tiff.number(4, 4);
  const std::size_t entries = tiff.number(table, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = table + 2 + 12 * i;
    if (tiff.number(entry, 2) != kOrientation || tiff.number(entry + 2, 2) != kShort) continue;
    const auto value = static_cast<int>(tiff.number(entry + 8, 2));
    return {value >= 1 && value <= 8 ? value : 1};
  }
  return {};
}

Image turned(const Image& stored, Orientation orientation) {
  const ImageSize from = stored.size();
  Image upright(orientation.turned(from), stored.channels());
  const ImageSize size = upright.size();
  for (std::int64_t y = 0; y < size.h; ++y) {
    std::uint8_t* to = upright.row(y);
    for (std::int64_t x = 0; x < size.w; ++x) {
      const std::int64_t along = orientation.transposes() ? y : x;
      const std::int64_t down = orientation.transposes() ? x : y;
      const std::int64_t row = orientation.mirrors_stored_rows() ? from.h - 1 - down : down;
      const std::int64_t column = orientation.mirrors_stored_columns() ? from.w - 1 - along : along;
      to = std::copy_n(stored.row(row) + column * stored.channels(), stored.channels(), to);
    }
  }
  return upright;
}

Image grey_of(const Image& colours) {
  Image grey(colours.size(), 1);
  const std::uint8_t* of = colours.row(0);
  std::uint8_t* const to = grey.row(0);
  for (std::int64_t i = 0; i < grey.size().pixels(); ++i, of += 3) {
    to[i] = static_cast<std::uint8_t>((19595U * of[0] + 38470U * of[1] + 7471U * of[2] + 32768U) >>
                                      16U);
  }
  return grey;
}

void copy_planes(const Image& image, std::uint8_t* planes) { copy_to(image, planes); }
void copy_planes(const Image& image, float* planes) { copy_to(image, planes); }

}  // namespace trainyard

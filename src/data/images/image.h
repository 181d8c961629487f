// A decoded image: how it is turned upright, and how it is resized, with the arithmetic and the
// pixels of Pillow's Image.resize().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "data/images/resize_taps.h"

namespace trainyard {

/// In pixels.
struct ImageSize {
  std::int64_t h = 0;
  std::int64_t w = 0;
  [[nodiscard]] std::int64_t pixels() const { return h * w; }
  bool operator==(const ImageSize&) const = default;
};

/// An image of 8 bits, grey (1 channel) or red, green, blue (3).
class Image {
 public:
  /// Pixels are not initialised.
  Image(ImageSize size, int channels);

  [[nodiscard]] ImageSize size() const { return size_; }
  [[nodiscard]] int channels() const { return channels_; }
  /// [w, channels] of row `y`.
  [[nodiscard]] std::uint8_t* row(std::int64_t y) { return pixels_.get() + y * row_bytes(); }
  [[nodiscard]] const std::uint8_t* row(std::int64_t y) const {
    return pixels_.get() + y * row_bytes();
  }

 private:
  [[nodiscard]] std::int64_t row_bytes() const { return size_.w * channels_; }

  ImageSize size_;
  int channels_;
  std::unique_ptr<std::uint8_t[]> pixels_;  // [h, w, channels]
};

/// How a stored image is turned to be upright: the values 1 (as stored) to 8 of the tag
/// Orientation (Exif 2.3, 4.6.4 A). Each is a transposition or none, then mirrored axes.
struct Orientation {
  int value = 1;
  [[nodiscard]] bool transposes() const { return value >= 5; }
  [[nodiscard]] bool mirrors_stored_rows() const {
    return value == 3 || value == 4 || value == 6 || value == 7;
  }
  [[nodiscard]] bool mirrors_stored_columns() const {
    return value == 2 || value == 3 || value == 7 || value == 8;
  }
  [[nodiscard]] ImageSize turned(ImageSize stored) const {
    return transposes() ? ImageSize{stored.w, stored.h} : stored;
  }
};

/// The orientation in an Exif segment, which begins with "Exif\0\0"; 1 if there is none, or if the
/// segment is damaged.
[[nodiscard]] Orientation exif_orientation(std::span<const std::byte> segment);

/// The image turned upright.
[[nodiscard]] Image turned(const Image& stored, Orientation orientation);

/// An image of 3 channels in grey: luma of ITU-R BT.601 in 16-bit fixed point, rounded, Pillow's
/// conversion to "L".
[[nodiscard]] Image grey_of(const Image& colours);

/// Writes the image to planes [channels, h, w].
void copy_planes(const Image& image, std::uint8_t* planes);
void copy_planes(const Image& image, float* planes);

/// A part of an image, in pixels of it, whose edges may lie inside pixels.
struct ImageBox {
  double top = 0, left = 0, bottom = 0, right = 0;
};
/// All of an image of this size.
[[nodiscard]] ImageBox whole_box(ImageSize size);
/// The largest centred part that has the proportions of `to`.
[[nodiscard]] ImageBox centred_box(ImageSize size, ImageSize to);

/// The part `box` of the image, resized: first along rows, then along columns, each rounded to 8
/// bits; coefficients in fixed point of 22 bits (Pillow 9 to 12, Resample.c).
[[nodiscard]] Image resized(const Image& image, ImageSize to, ResizeFilter filter,
                            const ImageBox& box);
/// Rows that are resized at once, with pixels side by side: 318 x 318 become 224 x 224 in 0.47
/// instead of 0.57 ms.
inline constexpr std::int64_t kRowsTogether = 4;
/// Puts pixel x of row `y` into pixels[kRowsTogether * x]: a byte for each channel, up to four, the
/// first one lowest.
using GivePixels = std::function<void(std::int64_t y, std::uint32_t* pixels)>;
/// Takes row `y` of a resized image.
using TakePixels = std::function<void(std::int64_t y, const std::uint32_t* pixels)>;
/// Resizes down.count rows of along.count pixels as resized() does.
void resize_pixels(const GivePixels& give, const ResizeAxis& down, const ResizeAxis& along,
                   ImageSize to, const TakePixels& take);

}  // namespace trainyard

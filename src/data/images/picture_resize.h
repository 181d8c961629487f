// Resizing of decoded pictures, with the arithmetic and the pixels of Pillow's Image.resize().
#pragma once

#include <span>

#include "config/fields.h"
#include "data/images/picture.h"

namespace trainyard {

/// Pillow's filters of the same names. Each is stretched when a picture becomes smaller, so that
/// every pixel counts (antialiasing).
enum class ResizeFilter { box, bilinear, bicubic, lanczos };
[[nodiscard]] constexpr config::Words<ResizeFilter> words(ResizeFilter) {
  return {"box", "bilinear", "bicubic", "lanczos"};
}

/// A part of a picture, in pixels of it, whose edges may lie inside pixels.
struct PictureBox {
  double top = 0, left = 0, bottom = 0, right = 0;
};
/// All of a picture of this size.
[[nodiscard]] PictureBox whole_box(ImageSize size);
/// The largest centred part that has the proportions of `to`.
[[nodiscard]] PictureBox centred_box(ImageSize size, ImageSize to);

/// The part `box` of the picture, resized: first along rows, then along columns, each rounded to 8
/// bits; coefficients in fixed point of 22 bits (Pillow 9 to 12, Resample.c).
[[nodiscard]] Picture resized(const Picture& picture, ImageSize to, ResizeFilter filter,
                              const PictureBox& box);

}  // namespace trainyard

// Resizing of decoded images, with the arithmetic and the pixels of Pillow's Image.resize().
#pragma once

#include "config/fields.h"
#include "data/images/image.h"

namespace trainyard {

/// Pillow's filters of the same names. Each is stretched when an image becomes smaller, so that
/// every pixel counts (antialiasing).
enum class ResizeFilter { box, bilinear, bicubic, lanczos };
[[nodiscard]] constexpr config::Words<ResizeFilter> words(ResizeFilter) {
  return {"box", "bilinear", "bicubic", "lanczos"};
}

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

}  // namespace trainyard

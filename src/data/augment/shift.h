// Random shifts, as Keras's ImageDataGenerator makes them.
#pragma once

#include "data/augment/warp.h"

namespace trainyard {

struct ShiftOptions {
  double x = 0;  // along the width; below 1 a fraction of it, else whole pixels
  double y = 0;  // along the height
  Fill fill = Fill::nearest;
  double cval = 0;  // the value of Fill::constant
  Interpolation interpolation = Interpolation::nearest;
};
void declare(config::Fields& fields, ShiftOptions& options);

/// How far a sample is shifted, in pixels: out(row, column) = in(row + y, column + x). So positive
/// values move the image up and to the left: keras-preprocessing 1.1's convention, whose transform
/// matrix maps output coordinates to input coordinates (image/affine_transformations.py,
/// apply_affine_transform; tx there is along the height).
struct ShiftAmount {
  float y = 0;
  float x = 0;
};

/// Shifts by uniform(-r, r) * size for a range r < 1, drawn continuously, or by a whole number of
/// pixels in -r..r for r >= 1, each equally likely (Keras draws from 1 - r..r - 1 there, zero twice
/// as often). Nearest takes the pixel at floor(shift + 0.5); bilinear is sub-pixel.
class Shift final : public Warp {
 public:
  static constexpr std::string_view kName = "shift";
  static constexpr std::string_view kHelp = "random shift along both axes";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit Shift(ShiftOptions options)
      : Warp({options.fill, options.cval, options.interpolation}), options_(options) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  /// The amount for a sample: words 0 (y) and 1 (x) of its draw.
  [[nodiscard]] ShiftAmount amount(const SampleKey& key, std::uint32_t draw,
                                   const Shape& shape) const;
  /// The shift by a given amount.
  [[nodiscard]] SpatialStep step_by(const ShiftAmount& amount, const Shape& shape) const;
  [[nodiscard]] SpatialStep step(const SampleKey& key, std::uint32_t draw,
                                 const Shape& shape) const override {
    return step_by(amount(key, draw, shape), shape);
  }
  [[nodiscard]] Affine map(const SampleKey& key, std::uint32_t draw,
                           const Shape& shape) const override {
    const ShiftAmount shift = amount(key, draw, shape);
    return {.y0 = shift.y, .x0 = shift.x};
  }

 private:
  ShiftOptions options_;
};

}  // namespace trainyard

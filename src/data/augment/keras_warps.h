// Random rotation, shear, zoom and shift, as Keras's ImageDataGenerator makes them (keras 2.1.6,
// preprocessing/image.py, random_transform): rotation, shear and zoom about its centre, which is
// half a pixel off.
#pragma once

#include "data/augment/warp.h"

namespace trainyard {

/// A warp by an angle of uniform(-degrees, degrees), word 0 of the draw. `Kind` has its kName,
/// kHelp, kMostDegrees, and by(): the warp by an angle in degrees.
template <class Kind>
class AngleWarp : public Warp {
 public:
  AngleWarp(double degrees, Sampling sampling) : Warp(sampling), degrees_(degrees) {}
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields) {
    double degrees = 0;
    Sampling sampling;
    fields.required("degrees", degrees, "largest angle, either way",
                    {.minimum = 0, .maximum = Kind::kMostDegrees});
    declare(fields, sampling);
    return std::make_unique<Kind>(degrees, sampling);
  }
  [[nodiscard]] std::string_view name() const override { return Kind::kName; }
  [[nodiscard]] Affine map(const SampleKey& key, std::uint32_t draw,
                           const Shape& shape) const override {
    return Kind::by(uniform(-degrees_, degrees_, augment_words(key, draw).word[0]), shape);
  }

 private:
  double degrees_;
};

/// Turns. The map is [[cos, -sin], [sin, cos]] of (y, x).
class Rotate final : public AngleWarp<Rotate> {
 public:
  static constexpr std::string_view kName = "rotate";
  static constexpr std::string_view kHelp = "random rotation";
  static constexpr double kMostDegrees = 180;
  using AngleWarp::AngleWarp;
  [[nodiscard]] static Affine by(double degrees, const Shape& shape);
};

/// Shears: [[1, -sin], [0, cos]] of (y, x). Degrees as of 2017-12-30 (keras #8868); radians before.
class Shear final : public AngleWarp<Shear> {
 public:
  static constexpr std::string_view kName = "shear";
  static constexpr std::string_view kHelp = "random shear";
  static constexpr double kMostDegrees = 89;
  using AngleWarp::AngleWarp;
  [[nodiscard]] static Affine by(double degrees, const Shape& shape);
};

/// Multiplies the distances from the centre at which the image is read by a factor for each axis,
/// uniform(low, high) of words 0 (y) and 1 (x): below 1 the image grows.
class Zoom final : public Warp {
 public:
  static constexpr std::string_view kName = "zoom";
  static constexpr std::string_view kHelp = "random zoom of each axis";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  Zoom(double low, double high, Sampling sampling) : Warp(sampling), low_(low), high_(high) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Affine map(const SampleKey& key, std::uint32_t draw,
                           const Shape& shape) const override;
  /// The zoom by given factors.
  [[nodiscard]] static Affine by(double y, double x, const Shape& shape);

 private:
  double low_, high_;
};

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
  [[nodiscard]] SpatialTransform step_by(const ShiftAmount& amount, const Shape& shape) const;
  [[nodiscard]] SpatialTransform step(const SampleKey& key, std::uint32_t draw,
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

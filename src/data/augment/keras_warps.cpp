#include "data/augment/keras_warps.h"

#include <cmath>
#include <numbers>

#include "data/augment/number_range.h"

namespace trainyard {

namespace {

double radians(double degrees) { return degrees * (std::numbers::pi / 180.0); }

/// The linear part of `map` about Keras's centre of an image, (h / 2 + 0.5, w / 2 + 0.5): half a
/// pixel off on either axis (keras 2.1.6, preprocessing/image.py, transform_matrix_offset_center).
Affine about_centre(const Affine& map, const Shape& shape) {
  const double y = static_cast<double>(shape[1]) / 2 + 0.5;
  const double x = static_cast<double>(shape[2]) / 2 + 0.5;
  return composed({.y0 = y, .x0 = x}, composed(map, {.y0 = -y, .x0 = -x}));
}

/// A warp by a random angle of at most `most` degrees.
template <class Turn>
std::unique_ptr<Augmentation> read_angle(config::Fields& fields, double most) {
  double degrees = 0;
  Sampling sampling;
  fields.required("degrees", degrees, "largest angle, either way", {.minimum = 0, .maximum = most});
  declare(fields, sampling);
  return std::make_unique<Turn>(degrees, sampling);
}

}  // namespace

Affine Rotate::by(double degrees, const Shape& shape) {
  const double cosine = std::cos(radians(degrees)), sine = std::sin(radians(degrees));
  return about_centre({.yy = cosine, .yx = -sine, .xy = sine, .xx = cosine}, shape);
}

Affine Rotate::map(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  return by(uniform(-degrees_, degrees_, augment_words(key, draw).word[0]), shape);
}

Affine Shear::by(double degrees, const Shape& shape) {
  return about_centre({.yx = -std::sin(radians(degrees)), .xx = std::cos(radians(degrees))}, shape);
}

Affine Shear::map(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  return by(uniform(-degrees_, degrees_, augment_words(key, draw).word[0]), shape);
}

Affine Zoom::by(double y, double x, const Shape& shape) {
  return about_centre({.yy = y, .xx = x}, shape);
}

Affine Zoom::map(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  const Random4 random = augment_words(key, draw);
  return by(uniform(low_, high_, random.word[0]), uniform(low_, high_, random.word[1]), shape);
}

std::unique_ptr<Augmentation> Rotate::read(config::Fields& fields) {
  return read_angle<Rotate>(fields, 180);
}

std::unique_ptr<Augmentation> Shear::read(config::Fields& fields) {
  return read_angle<Shear>(fields, 89);
}

std::unique_ptr<Augmentation> Zoom::read(config::Fields& fields) {
  Sampling sampling;
  const NumberRange range = read_range(
      fields, "range", "factors of the distance from the centre: below 1 enlarges", 0.01);
  declare(fields, sampling);
  return std::make_unique<Zoom>(range.low, range.high, sampling);
}

}  // namespace trainyard

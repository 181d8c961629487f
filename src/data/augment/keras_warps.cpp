#include "data/augment/keras_warps.h"

#include <cmath>
#include <numbers>

#include "base/text.h"
#include "data/augment/number_keys.h"

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

/// The shift of one axis from a random word.
float drawn_pixels(double range, std::int64_t size, std::uint32_t word) {
  if (range >= 1) {
    const auto choices = 2 * static_cast<std::uint64_t>(range) + 1;
    const std::uint64_t choice = (choices * word) >> 32;
    return static_cast<float>(static_cast<double>(choice) - range);
  }
  const float reach = static_cast<float>(range * static_cast<double>(size));
  return (2.0f * uniform01(word) - 1.0f) * reach;
}

void check_range(config::Fields& fields, std::string_view key, double range) {
  if (range < 1 || range == std::floor(range)) return;
  fields.error(
      key, "expected a fraction below 1 or a whole number of pixels, found " + number_text(range));
}

}  // namespace

Affine Rotate::by(double degrees, const Shape& shape) {
  const double cosine = std::cos(radians(degrees)), sine = std::sin(radians(degrees));
  return about_centre({.yy = cosine, .yx = -sine, .xy = sine, .xx = cosine}, shape);
}

Affine Shear::by(double degrees, const Shape& shape) {
  return about_centre({.yx = -std::sin(radians(degrees)), .xx = std::cos(radians(degrees))}, shape);
}

Affine Zoom::by(double y, double x, const Shape& shape) {
  return about_centre({.yy = y, .xx = x}, shape);
}

Affine Zoom::map(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  const Random4 random = augment_words(key, draw);
  return by(uniform(low_, high_, random.word[0]), uniform(low_, high_, random.word[1]), shape);
}

std::unique_ptr<Augmentation> Zoom::read(config::Fields& fields) {
  Sampling sampling;
  const NumberRange range = read_range(
      fields, "range", "factors of the distance from the centre: below 1 enlarges", 0.01);
  declare(fields, sampling);
  return std::make_unique<Zoom>(range.low, range.high, sampling);
}

void declare(config::Fields& fields, ShiftOptions& options) {
  constexpr config::Limits kRange{.minimum = 0, .maximum = 16384};
  fields.field("x", options.x, "largest shift along the width: a fraction below 1, or pixels",
               kRange);
  fields.field("y", options.y, "largest shift along the height: a fraction below 1, or pixels",
               kRange);
  Sampling sampling;
  declare(fields, sampling);
  options.fill = sampling.fill;
  options.cval = sampling.cval;
  options.interpolation = sampling.interpolation;
  check_range(fields, "x", options.x);
  check_range(fields, "y", options.y);
}

ShiftAmount Shift::amount(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  const Random4 random = augment_words(key, draw);
  return {drawn_pixels(options_.y, shape[1], random.word[0]),
          drawn_pixels(options_.x, shape[2], random.word[1])};
}

SpatialTransform Shift::step_by(const ShiftAmount& amount, const Shape& shape) const {
  SpatialTransform step = identity_step(shape);
  step.fill = options_.fill;
  step.value = static_cast<float>(options_.cval);
  step.interpolates = options_.interpolation == Interpolation::bilinear;
  const float half = step.interpolates ? 0.0f : 0.5f;
  const float whole_y = std::floor(amount.y + half), whole_x = std::floor(amount.x + half);
  step.dy = static_cast<std::int32_t>(whole_y);
  step.dx = static_cast<std::int32_t>(whole_x);
  if (!step.interpolates) return step;
  step.part_y = amount.y - whole_y;
  step.part_x = amount.x - whole_x;
  return step;
}

std::unique_ptr<Augmentation> Shift::read(config::Fields& fields) {
  ShiftOptions options;
  declare(fields, options);
  return std::make_unique<Shift>(options);
}

}  // namespace trainyard

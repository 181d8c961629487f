#include "data/augment/shift.h"

#include <cmath>

#include "base/text.h"

namespace trainyard {

namespace {

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

SpatialStep Shift::step_by(const ShiftAmount& amount, const Shape& shape) const {
  SpatialStep step = identity_step(shape);
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

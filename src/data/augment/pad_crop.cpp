#include "data/augment/pad_crop.h"

#include "base/error.h"

namespace trainyard {

void declare(config::Fields& fields, PadCropOptions& options) {
  fields.field("pad", options.pad, "pixels added on each side", {.minimum = 0, .maximum = 16384});
  fields.field("value", options.value, "value of the padding, before preprocessing");
  fields.field("fill", options.fill, "what the padding is: constant is 'value'");
  fields.field("size", options.size, "of the crop, one number or [h, w]; the input's if not given",
               {.minimum = 1});
}

Shape PadCrop::output_shape(const Shape& shape) const {
  const bool known = shape[1] > 0;
  if (!known && !options_.size) return shape;
  const config::Pair size = options_.size.value_or(config::Pair{shape[1], shape[2]});
  if (known && (size.h > shape[1] + 2 * options_.pad || size.w > shape[2] + 2 * options_.pad)) {
    throw Error(ErrorKind::config, "pad_crop: a crop of " + std::to_string(size.h) + " x " +
                                       std::to_string(size.w) + " does not fit an image of " +
                                       std::to_string(shape[1]) + " x " + std::to_string(shape[2]) +
                                       " padded by " + std::to_string(options_.pad) +
                                       "; lower 'size' or raise 'pad'");
  }
  return Shape{shape[0], size.h, size.w};
}

PadCrop::Corner PadCrop::last_corner(const Shape& shape) const {
  const Shape out = output_shape(shape);
  return {shape[1] + 2 * options_.pad - out[1], shape[2] + 2 * options_.pad - out[2]};
}

SpatialStep PadCrop::crop(const Corner& corner, const Shape& shape) const {
  const Shape out = output_shape(shape);
  SpatialStep step = identity_step(shape);
  step.out_h = static_cast<std::int32_t>(out[1]);
  step.out_w = static_cast<std::int32_t>(out[2]);
  step.dy = static_cast<std::int32_t>(corner.y - options_.pad);
  step.dx = static_cast<std::int32_t>(corner.x - options_.pad);
  step.fill = options_.fill;
  step.value = static_cast<float>(options_.value);
  return step;
}

SpatialStep PadCrop::step(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  const Random4 random = augment_words(key, draw);
  const Corner last = last_corner(shape);
  return crop({drawn_index(last.y, random.word[0]), drawn_index(last.x, random.word[1])}, shape);
}

SpatialStep PadCrop::eval_step(const Shape& shape) const {
  const Corner last = last_corner(shape);
  return crop({last.y / 2, last.x / 2}, shape);
}

std::unique_ptr<Augmentation> PadCrop::read(config::Fields& fields) {
  PadCropOptions options;
  declare(fields, options);
  return std::make_unique<PadCrop>(options);
}

}  // namespace trainyard

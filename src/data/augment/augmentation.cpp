#include "data/augment/augmentation.h"

#include "base/error.h"

namespace trainyard {

SpatialStep identity_step(const Shape& shape) {
  const auto height = static_cast<std::int32_t>(shape[1]),
             width = static_cast<std::int32_t>(shape[2]);
  return {.in_h = height, .in_w = width, .out_h = height, .out_w = width};
}

SpatialStep Augmentation::eval_step(const Shape& shape) const {
  TY_CHECK(output_shape(shape) == shape, "an augmentation that resizes needs its own evaluation");
  return identity_step(shape);
}

void Augmentation::colours(const SampleKey&, std::uint32_t, const Shape&, ColourStep*) const {}

SpatialStep ColourAugmentation::step(const SampleKey&, std::uint32_t, const Shape& shape) const {
  return identity_step(shape);
}

}  // namespace trainyard

#include "data/augment/warp.h"

namespace trainyard {

void declare(config::Fields& fields, Sampling& sampling) {
  fields.field("fill", sampling.fill, "how the image is extended beyond its edge");
  fields.field("cval", sampling.cval, "value of fill: constant");
  fields.field("interpolation", sampling.interpolation, "nearest pixel, or sub-pixel");
}

Affine Warp::eval_map(const Shape&) const { return {}; }

SpatialTransform Warp::step(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  return warp_step(map(key, draw, shape), sampling_, shape, output_shape(shape));
}

SpatialTransform Warp::eval_step(const Shape& shape) const {
  return warp_step(eval_map(shape), sampling_, shape, output_shape(shape));
}

Affine composed(const Affine& outer, const Affine& inner) {
  return {.yy = outer.yy * inner.yy + outer.yx * inner.xy,
          .yx = outer.yy * inner.yx + outer.yx * inner.xx,
          .y0 = outer.yy * inner.y0 + outer.yx * inner.x0 + outer.y0,
          .xy = outer.xy * inner.yy + outer.xx * inner.xy,
          .xx = outer.xy * inner.yx + outer.xx * inner.xx,
          .x0 = outer.xy * inner.y0 + outer.xx * inner.x0 + outer.x0};
}

Affine resized(const Shape& in, const Shape& out) {
  const double y = static_cast<double>(in[1]) / static_cast<double>(out[1]);
  const double x = static_cast<double>(in[2]) / static_cast<double>(out[2]);
  return {.yy = y, .y0 = 0.5 * y - 0.5, .xx = x, .x0 = 0.5 * x - 0.5};
}

SpatialTransform warp_step(const Affine& map, const Sampling& sampling, const Shape& in,
                           const Shape& out) {
  SpatialTransform step = identity_step(in);
  step.out_h = static_cast<std::int32_t>(out[1]);
  step.out_w = static_cast<std::int32_t>(out[2]);
  if (map == Affine{}) return step;
  step.fill = sampling.fill;
  step.value = static_cast<float>(sampling.cval);
  step.interpolates = sampling.interpolation == Interpolation::bilinear;
  step.warps = true;
  step.map = map;
  return step;
}

}  // namespace trainyard

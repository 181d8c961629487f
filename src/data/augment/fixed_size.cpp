#include "data/augment/fixed_size.h"

#include <algorithm>
#include <optional>

namespace trainyard {

namespace {

constexpr config::Limits kSideLimits{.minimum = 1, .maximum = 16384};

/// floor(a / 2), also for negative numbers.
std::int32_t half_of(std::int64_t a) { return static_cast<std::int32_t>(a >> 1); }

}  // namespace

Shape Resize::output_shape(const Shape& shape) const {
  if (side_ == 0) return {shape[0], size_.h, size_.w};
  if (shape[1] == 0) return shape;
  const std::int64_t shorter = std::min(shape[1], shape[2]);
  return {shape[0], side_ * shape[1] / shorter, side_ * shape[2] / shorter};
}

Affine Resize::map(const SampleKey&, std::uint32_t, const Shape& shape) const {
  return eval_map(shape);
}

Affine Resize::eval_map(const Shape& shape) const { return resized(shape, output_shape(shape)); }

Shape CenterCrop::output_shape(const Shape& shape) const { return {shape[0], size_.h, size_.w}; }

SpatialStep CenterCrop::step(const SampleKey&, std::uint32_t, const Shape& shape) const {
  return eval_step(shape);
}

SpatialStep CenterCrop::eval_step(const Shape& shape) const {
  SpatialStep step = identity_step(shape);
  step.out_h = static_cast<std::int32_t>(size_.h);
  step.out_w = static_cast<std::int32_t>(size_.w);
  step.dy = half_of(shape[1] - size_.h);
  step.dx = half_of(shape[2] - size_.w);
  step.fill = Fill::constant;
  return step;
}

std::unique_ptr<Augmentation> Resize::read(config::Fields& fields) {
  std::vector<std::int64_t> size{1};
  Sampling sampling{.interpolation = Interpolation::bilinear};
  fields.rest("size", size, "of the shorter side, or [h, w]", kSideLimits);
  declare(fields, sampling);
  if (!fields.describing() && size.size() > 2) {
    fields.error("size", "expected one number, or [h, w]");
  }
  if (size.size() == 2) return std::make_unique<Resize>(config::Pair{size[0], size[1]}, sampling);
  return std::make_unique<Resize>(size.empty() ? 1 : size[0], sampling);
}

std::unique_ptr<Augmentation> CenterCrop::read(config::Fields& fields) {
  config::Pair size;
  fields.required("size", size, "one number or [h, w]", kSideLimits);
  return std::make_unique<CenterCrop>(size);
}

}  // namespace trainyard

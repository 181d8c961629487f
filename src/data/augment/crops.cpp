#include "data/augment/crops.h"

#include <algorithm>

#include "base/error.h"

namespace trainyard {

namespace {

constexpr config::Limits kSideLimits{.minimum = 1, .maximum = 16384};

/// floor(a / 2), also for negative numbers.
std::int32_t half_of(std::int64_t a) { return static_cast<std::int32_t>(a >> 1); }

/// The middle of an image, as large as the range of aspect ratios lets it be.
ImageWindow middle(const NumberRange& aspect, const Shape& shape) {
  const auto rounded = [](double side) { return static_cast<std::int64_t>(std::nearbyint(side)); };
  const auto height = static_cast<double>(shape[1]), width = static_cast<double>(shape[2]);
  ImageWindow window{.h = shape[1], .w = shape[2]};
  if (width / height < aspect.low) window.h = rounded(width / aspect.low);
  if (width / height > aspect.high) window.w = rounded(height * aspect.high);
  // A thin image of an extreme range would give none.
  window.h = std::clamp<std::int64_t>(window.h, 1, shape[1]);
  window.w = std::clamp<std::int64_t>(window.w, 1, shape[2]);
  window.y = (shape[1] - window.h) / 2;
  window.x = (shape[2] - window.w) / 2;
  return window;
}

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

SpatialTransform CenterCrop::step(const SampleKey&, std::uint32_t, const Shape& shape) const {
  return eval_step(shape);
}

SpatialTransform CenterCrop::eval_step(const Shape& shape) const {
  SpatialTransform step = identity_step(shape);
  step.out_h = static_cast<std::int32_t>(size_.h);
  step.out_w = static_cast<std::int32_t>(size_.w);
  step.dy = half_of(shape[1] - size_.h);
  step.dx = half_of(shape[2] - size_.w);
  step.fill = Fill::constant;
  return step;
}

std::unique_ptr<Augmentation> Resize::read(config::Fields& fields) {
  std::vector<std::int64_t> size;
  Sampling sampling{.interpolation = Interpolation::bilinear};
  fields.rest("size", size, "length of the shorter side, or [h, w]", kSideLimits);
  declare(fields, sampling);
  if (!fields.describing() && (size.empty() || size.size() > 2)) {
    fields.error("size", "'resize' needs a 'size': the length of the shorter side, or [h, w]");
  }
  if (size.size() == 2) return std::make_unique<Resize>(config::Pair{size[0], size[1]}, sampling);
  return std::make_unique<Resize>(size.empty() ? 1 : size[0], sampling);
}

std::unique_ptr<Augmentation> CenterCrop::read(config::Fields& fields) {
  config::Pair size;
  fields.required("size", size, "one number or [h, w]", kSideLimits);
  return std::make_unique<CenterCrop>(size);
}

Shape RandomResizedCrop::output_shape(const Shape& shape) const {
  return {shape[0], options_.size.h, options_.size.w};
}

ImageWindow RandomResizedCrop::window(const SampleKey& key, std::uint32_t draw,
                                      const Shape& shape) const {
  const auto fits = [&](std::int64_t h, std::int64_t w) {
    return h > 0 && h <= shape[1] && w > 0 && w <= shape[2];
  };
  return random_window(options_.window, key, draw, shape, fits)
      .value_or(middle(options_.window.aspect, shape));
}

Affine RandomResizedCrop::map(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  const ImageWindow part = window(key, draw, shape);
  Affine map = resized({shape[0], part.h, part.w}, output_shape(shape));
  map.y0 += static_cast<double>(part.y);
  map.x0 += static_cast<double>(part.x);
  return map;
}

Affine RandomResizedCrop::eval_map(const Shape& shape) const {
  const auto height = static_cast<double>(shape[1]), width = static_cast<double>(shape[2]);
  const auto out_h = static_cast<double>(options_.size.h);
  const auto out_w = static_cast<double>(options_.size.w);
  const double by = options_.center * std::min(height / out_h, width / out_w);
  // Pixel y of the output is centred at y + 0.5; the middles of both images meet.
  return {.yy = by,
          .y0 = 0.5 * height - 0.5 + by * (0.5 - 0.5 * out_h),
          .xx = by,
          .x0 = 0.5 * width - 0.5 + by * (0.5 - 0.5 * out_w)};
}

SpatialTransform RandomResizedCrop::step(const SampleKey& key, std::uint32_t draw,
                                         const Shape& shape) const {
  if (!filters()) return Warp::step(key, draw, shape);
  const ImageWindow part = window(key, draw, shape);
  return resized_window(shape, part, whole_box({part.h, part.w}));
}

SpatialTransform RandomResizedCrop::eval_step(const Shape& shape) const {
  if (!filters()) return Warp::eval_step(shape);
  const Affine map = eval_map(shape);
  const double top = map.y0 + 0.5 - 0.5 * map.yy, left = map.x0 + 0.5 - 0.5 * map.xx;
  return resized_window(shape, {.h = shape[1], .w = shape[2]},
                        {.top = top,
                         .left = left,
                         .bottom = top + map.yy * static_cast<double>(options_.size.h),
                         .right = left + map.xx * static_cast<double>(options_.size.w)});
}

SpatialTransform RandomResizedCrop::resized_window(const Shape& shape, const ImageWindow& window,
                                                   const ImageBox& part) const {
  const auto [height, width] = options_.size;
  const auto filter = static_cast<ResizeFilter>(options_.filter);
  SpatialTransform step = identity_step(shape);
  step.out_h = static_cast<std::int32_t>(height);
  step.out_w = static_cast<std::int32_t>(width);
  step.dy = static_cast<std::int32_t>(window.y);
  step.dx = static_cast<std::int32_t>(window.x);
  step.resizes = true;
  step.down = {part.top, (part.bottom - part.top) / static_cast<double>(height), window.h, filter};
  step.along = {part.left, (part.right - part.left) / static_cast<double>(width), window.w, filter};
  return step;
}

std::unique_ptr<Augmentation> RandomResizedCrop::read(config::Fields& fields) {
  RandomResizedCropOptions options;
  Sampling sampling{.interpolation = Interpolation::bilinear};
  fields.required("size", options.size, "size of the result, one number or [h, w]",
                  {.minimum = 1, .maximum = 16384});
  read_bounds(fields, "scale", options.window.area, "area of the crop, a part of the image's",
              {.minimum = 1e-6, .maximum = 1});
  read_bounds(fields, "ratio", options.window.aspect, "width / height of the crop",
              {.minimum = 1e-3, .maximum = 1e3});
  fields.field("center", options.center, "in evaluation: the part of the sides that is read",
               {.minimum = 1e-3, .maximum = 1});
  fields.field("filter", options.filter,
               "Pillow's filter of this name, antialiased, on 8-bit values; none: 'interpolation'");
  declare(fields, sampling);
  return std::make_unique<RandomResizedCrop>(options, sampling);
}

void declare(config::Fields& fields, PadCropOptions& options) {
  fields.field("pad", options.pad, "pixels added on each side", {.minimum = 0, .maximum = 16384});
  fields.field("value", options.value, "value of the padding, before preprocessing");
  fields.field("fill", options.fill, "what the padding is: constant is 'value'");
  fields.field("size", options.size,
               "size of the crop, one number or [h, w] (default: the input's)", {.minimum = 1});
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

SpatialTransform PadCrop::crop(const Corner& corner, const Shape& shape) const {
  const Shape out = output_shape(shape);
  SpatialTransform step = identity_step(shape);
  step.out_h = static_cast<std::int32_t>(out[1]);
  step.out_w = static_cast<std::int32_t>(out[2]);
  step.dy = static_cast<std::int32_t>(corner.y - options_.pad);
  step.dx = static_cast<std::int32_t>(corner.x - options_.pad);
  step.fill = options_.fill;
  step.value = static_cast<float>(options_.value);
  return step;
}

SpatialTransform PadCrop::step(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  const Random4 random = augment_words(key, draw);
  const Corner last = last_corner(shape);
  return crop({drawn_index(last.y, random.word[0]), drawn_index(last.x, random.word[1])}, shape);
}

SpatialTransform PadCrop::eval_step(const Shape& shape) const {
  const Corner last = last_corner(shape);
  return crop({last.y / 2, last.x / 2}, shape);
}

std::unique_ptr<Augmentation> PadCrop::read(config::Fields& fields) {
  PadCropOptions options;
  declare(fields, options);
  return std::make_unique<PadCrop>(options);
}

}  // namespace trainyard

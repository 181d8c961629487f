#include "data/augment/random_resized_crop.h"

#include <algorithm>

namespace trainyard {

namespace {

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

Shape RandomResizedCrop::output_shape(const Shape& shape) const {
  return {shape[0], options_.size.h, options_.size.w};
}

Affine RandomResizedCrop::map(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  const auto fits = [&](std::int64_t h, std::int64_t w) {
    return h > 0 && h <= shape[1] && w > 0 && w <= shape[2];
  };
  const ImageWindow window = random_window(options_.window, key, draw, shape, fits)
                                 .value_or(middle(options_.window.aspect, shape));
  Affine map = resized({shape[0], window.h, window.w}, output_shape(shape));
  map.y0 += static_cast<double>(window.y);
  map.x0 += static_cast<double>(window.x);
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

std::unique_ptr<Augmentation> RandomResizedCrop::read(config::Fields& fields) {
  RandomResizedCropOptions options;
  Sampling sampling{.interpolation = Interpolation::bilinear};
  fields.required("size", options.size, "of the result, one number or [h, w]",
                  {.minimum = 1, .maximum = 16384});
  read_bounds(fields, "scale", options.window.area, "of the crop's area, a part of the image's",
              {.minimum = 1e-6, .maximum = 1});
  read_bounds(fields, "ratio", options.window.aspect, "of the crop's width / height",
              {.minimum = 1e-3, .maximum = 1e3});
  fields.field("center", options.center, "in evaluation: the part of the sides that is read",
               {.minimum = 1e-3, .maximum = 1});
  declare(fields, sampling);
  return std::make_unique<RandomResizedCrop>(options, sampling);
}

}  // namespace trainyard

// A batch made on a device from 8-bit images, of a set that stays there or of the batch itself:
// gathered, augmented, preprocessed, and written in the layout of the network's first layer. The
// floats are bit-identical to Pipeline's.
#pragma once

#include <cstdint>

#include "data/sample_program.h"
#include "data/spatial_step.h"
#include "tensor/layout.h"

namespace trainyard {

/// The source of a batch. Pointers are device memory.
struct GatherSource {
  const std::uint8_t* set = nullptr;           // [samples, c * set_h * set_w]: c planes of the
                                               // size that the first step reads, or set_h, set_w
  const std::int64_t* sample_index = nullptr;  // [n]; null: sample i of the batch is i of `set`
  const SpatialStep* spatial = nullptr;        // [n, spatial_steps], the first one first
  std::int32_t set_h = 0, set_w = 0, spatial_steps = 0;
  PixelProgram pixels;  // none of them samplewise
};

/// One channel of an image of the set after its augmentations, of which at most one interpolates.
struct AugmentedImage {
  const std::uint8_t* plane;
  std::int32_t width;
  const SpatialStep* steps;

  /// The value at (y, x) after the first `count` steps, which take whole pixels.
  [[nodiscard]] TY_HD float whole(std::int32_t count, std::int64_t y, std::int64_t x) const {
    for (std::int32_t k = count - 1; k >= 0; --k) {
      if (!move(steps[k], y, x)) return steps[k].value;
    }
    return static_cast<float>(plane[y * width + x]);
  }
  /// The same if one of them may interpolate.
  [[nodiscard]] TY_HD float at(std::int32_t count, std::int64_t y, std::int64_t x) const {
    for (std::int32_t k = count - 1; k >= 0; --k) {
      if (steps[k].interpolates) {
        return steps[k].between(steps[k].place(y, x), [&](std::int64_t at_y, std::int64_t at_x) {
          return whole(k, at_y, at_x);
        });
      }
      if (!move(steps[k], y, x)) return steps[k].value;
    }
    return static_cast<float>(plane[y * width + x]);
  }

 private:
  /// Maps a pixel of a step's output to one of its input; false if it is the step's constant.
  [[nodiscard]] TY_HD static bool move(const SpatialStep& step, std::int64_t& y, std::int64_t& x) {
    const PixelPlace place = step.place(y, x);
    y = extended_index(place.y, step.in_h, step.fill);
    x = extended_index(place.x, step.in_w, step.fill);
    return y >= 0 && x >= 0;
  }
};

/// One call per pixel of the batch: n * h * w of them, all channels of the pixel. Padding channels
/// are left unchanged.
template <class T>
struct GatherBatch {
  GatherSource from;
  Layout layout;  // of the images, n, c, h, w
  T* images;

  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t h = layout.extent[2], w = layout.extent[3];
    const std::int64_t n = i / (h * w), pixel = i - n * h * w;
    const std::int64_t y = pixel / w, x = pixel - y * w;
    const std::int64_t channels = layout.extent[1];
    const std::int64_t index = from.sample_index == nullptr ? n : from.sample_index[n];
    const std::uint8_t* const sample =
        from.set + index * channels * (std::int64_t{from.set_h} * from.set_w);
    const SpatialStep* const steps = from.spatial + n * from.spatial_steps;
    const bool moved = from.spatial_steps > 0;
    const std::int32_t sample_h = moved ? steps->in_h : from.set_h;
    const std::int32_t sample_w = moved ? steps->in_w : from.set_w;
    const std::int64_t plane = std::int64_t{sample_h} * sample_w;
    for (std::int64_t c = 0; c < channels; ++c) {
      const AugmentedImage image{sample + c * plane, sample_w, steps};
      float value = image.at(from.spatial_steps, y, x);
      for (std::int32_t k = 0; k < from.pixels.count; ++k) {
        value = from.pixels.steps[k].applied(value, c, c * h * w + pixel);
      }
      images[layout.offset(n, c, y, x)] = static_cast<T>(value);
    }
  }
};

/// Samples in float, [n, c, h, w], written in a layout. One call per pixel, as of GatherBatch.
template <class T>
struct PlaceBatch {
  const float* samples;
  Layout layout;
  T* images;

  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t channels = layout.extent[1], h = layout.extent[2], w = layout.extent[3];
    const std::int64_t n = i / (h * w), pixel = i - n * h * w;
    const std::int64_t y = pixel / w, x = pixel - y * w;
    for (std::int64_t c = 0; c < channels; ++c) {
      images[layout.offset(n, c, y, x)] =
          static_cast<T>(samples[(n * channels + c) * h * w + pixel]);
    }
  }
};

}  // namespace trainyard

// A batch made on a device: from 8-bit images, of a set that stays there or of the batch itself,
// gathered, augmented, preprocessed, and written in the layout of the network's first layer; or
// from the host's floats. The floats are bit-identical to Pipeline's.
#pragma once

#include <cstdint>

#include "data/augment/pair_mix.h"
#include "data/augment/sample_program.h"
#include "data/augment/spatial_transform.h"
#include "data/sets/epoch_order.h"
#include "launcher/pack.h"
#include "tensor/layout.h"

namespace trainyard {

/// Brings the parts of a batch that are read at fixed addresses there: a call copies 8 bytes.
struct CopyWords {
  const std::uint64_t* from = nullptr;
  std::uint64_t* to = nullptr;
  std::int64_t count = 0;

  TY_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

/// A pixel of a batch, and its place in its image.
struct BatchPixel {
  std::int64_t n, y, x, place;
};
/// The i-th, of images n, c, h, w.
[[nodiscard]] TY_HD BatchPixel batch_pixel(const Layout& layout, std::int64_t i) {
  const auto w = static_cast<std::uint32_t>(layout.extent[3]);
  const std::uint32_t line = static_cast<std::uint32_t>(i) / w;
  const std::uint32_t n = line / static_cast<std::uint32_t>(layout.extent[2]);
  const std::int64_t y = line - n * layout.extent[2], x = i - std::int64_t{line} * w;
  return {n, y, x, y * w + x};
}

/// Writes value(c) to channel c of a pixel, and zeros to the padding behind them: by one store
/// where all are a pack of few channels.
template <class T, class Value>
TY_HD void write_pixel(const Layout& layout, T* images, const BatchPixel& at, const Value& value) {
  constexpr int kMost = kPack<T> < 4 ? kPack<T> : 4;
  const std::int64_t channels = layout.extent[1], all = layout.padded_channels;
  const auto of = [&](std::int64_t c) { return c < channels ? static_cast<T>(value(c)) : T{}; };
  if (all == kPack<T> && channels <= kMost && layout.block == 1 && layout.stride[1] == 1) {
    Pack<T, kPack<T>> pack = {};
    TY_UNROLL
    for (int c = 0; c < kMost; ++c) pack.value[c] = of(c);
    return store_pack<T, kPack<T>>(images + layout.offset(at.n, 0, at.y, at.x), pack);
  }
  for (std::int64_t c = 0; c < all; ++c) images[layout.offset(at.n, c, at.y, at.x)] = of(c);
}

/// The source of a batch. Pointers are device memory.
struct GatherSource {
  const std::uint8_t* set = nullptr;           // [samples, c * set_h * set_w]: c planes of the
                                               // size that the first step reads, or set_h, set_w
  const std::int64_t* sample_index = nullptr;  // [n], drawn_sample(); null: sample i is i of `set`
  const SpatialTransform* spatial = nullptr;   // [n, spatial_transforms], the first one first
  std::int32_t set_h = 0, set_w = 0, spatial_transforms = 0;
  PixelProgram pixels;  // none of them samplewise
};

/// One channel of an image of the set after its augmentations, of which at most one interpolates.
struct AugmentedImage {
  const std::uint8_t* plane;
  std::int32_t width;
  const SpatialTransform* steps;

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
      const auto pixel = [&](std::int64_t at_y, std::int64_t at_x) { return whole(k, at_y, at_x); };
      if (steps[k].resizes) return steps[k].filtered(y, x, pixel);
      if (steps[k].interpolates) return steps[k].between(steps[k].place(y, x), pixel);
      if (!move(steps[k], y, x)) return steps[k].value;
    }
    return static_cast<float>(plane[y * width + x]);
  }

 private:
  /// Maps a pixel of a step's output to one of its input; false if it is the step's constant.
  [[nodiscard]] TY_HD static bool move(const SpatialTransform& step, std::int64_t& y,
                                       std::int64_t& x) {
    const SamplePoint place = step.place(y, x);
    y = extended_index(place.y, step.in_h, step.fill);
    x = extended_index(place.x, step.in_w, step.fill);
    return y >= 0 && x >= 0;
  }
};

/// One call per pixel of the batch: n * h * w of them, all channels of the pixel.
template <class T>
struct GatherBatch {
  GatherSource from;
  Layout layout;  // layout of the images, n, c, h, w
  T* images;

  TY_HD void operator()(std::int64_t i) const {
    const BatchPixel at = batch_pixel(layout, i);
    const std::int64_t of_image = layout.extent[2] * layout.extent[3];
    const std::int64_t index =
        from.sample_index == nullptr ? at.n : index_of_drawn(from.sample_index[at.n]);
    const std::uint8_t* const sample =
        from.set + index * layout.extent[1] * (std::int64_t{from.set_h} * from.set_w);
    const SpatialTransform* const steps = from.spatial + at.n * from.spatial_transforms;
    const bool moved = from.spatial_transforms > 0;
    const std::int32_t sample_h = moved ? steps->in_h : from.set_h;
    const std::int32_t sample_w = moved ? steps->in_w : from.set_w;
    const std::int64_t plane = std::int64_t{sample_h} * sample_w;
    write_pixel(layout, images, at, [&](std::int64_t c) {
      const AugmentedImage image{sample + c * plane, sample_w, steps};
      float value = image.at(from.spatial_transforms, at.y, at.x);
      for (std::int32_t k = 0; k < from.pixels.count; ++k) {
        value = from.pixels.steps[k].applied(value, c, c * of_image + at.place);
      }
      return value;
    });
  }
};

/// Samples in float, [n, c, h, w], written in a layout, perhaps mixed in pairs. One call per pixel,
/// as of GatherBatch.
template <class T>
struct PlaceBatch {
  const float* samples;
  const PairMix* mixes;  // [n / 2], of an even n; null: none
  Layout layout;
  T* images;

  TY_HD void operator()(std::int64_t i) const {
    const BatchPixel at = batch_pixel(layout, i);
    const std::int64_t of_image = layout.extent[2] * layout.extent[3];
    const std::int64_t of_sample = layout.extent[1] * of_image;
    const float* const from = samples + at.n * of_sample + at.place;
    const float part = mixes == nullptr ? 1.0f : mixes[at.n / 2].own_part(at.y, at.x);
    const std::int64_t other = part == 1.0f ? 0 : at.n % 2 == 0 ? of_sample : -of_sample;
    write_pixel(layout, images, at, [&](std::int64_t c) {
      const float* const own = from + c * of_image;
      return mixed_value(part, *own, own[other]);
    });
  }
};

}  // namespace trainyard

// Random changes of colours, as Keras's ImageDataGenerator and MXNet's image reader make them.
#pragma once

#include "data/augment/augmentation.h"
#include "data/augment/number_range.h"

namespace trainyard {

/// Adds uniform(-range, range) to each channel (word c of the draw), limited to the image's least
/// and largest value (keras 2.1.6, preprocessing/image.py, random_channel_shift).
class ChannelShift final : public ColourAugmentation {
 public:
  explicit ChannelShift(double range) : range_(range) {}
  [[nodiscard]] std::string_view name() const override { return "channel_shift"; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] std::int32_t colour_steps() const override { return 1; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourStep* out) const override;

 private:
  double range_;
};

/// Multiplies by uniform(low, high), word 0 of the draw, what is first stretched so that its
/// largest value is 255; values are rounded down (keras 2.1.6, random_brightness, with the scaling
/// of its array_to_img, and Pillow's ImageEnhance.Brightness).
class Brightness final : public ColourAugmentation {
 public:
  explicit Brightness(NumberRange range) : range_(range) {}
  [[nodiscard]] std::string_view name() const override { return "brightness"; }
  [[nodiscard]] std::int32_t colour_steps() const override { return 1; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourStep* out) const override;

 private:
  NumberRange range_;
};

struct HlsJitterOptions {
  std::int64_t h = 36, l = 50, s = 50;  // largest offsets
};

/// Adds an offset to hue, lightness and saturation, OpenCV's of 8 bits with the hue in 0..180, and
/// limits them to (180, 255, 255). An offset is uniform(-range, range) without its fraction, one of
/// each for an image: words 0 (h), 1 (l) and 2 (s). mxnet 0.9.5, src/io/image_aug_default.cc
/// (random_h, random_l, random_s).
class HlsJitter final : public ColourAugmentation {
 public:
  explicit HlsJitter(HlsJitterOptions options) : options_(options) {}
  [[nodiscard]] std::string_view name() const override { return "hls_jitter"; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] std::int32_t colour_steps() const override { return 1; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourStep* out) const override;

 private:
  HlsJitterOptions options_;
};

/// Throws Error{config} unless images of `shape` have three channels.
void require_colours(std::string_view name, const Shape& shape);

[[nodiscard]] std::unique_ptr<Augmentation> read_channel_shift(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Augmentation> read_brightness(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Augmentation> read_hls_jitter(config::Fields& fields);

}  // namespace trainyard

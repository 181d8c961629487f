// Random changes of colours, as Keras's ImageDataGenerator, MXNet's image reader and torchvision
// make them.
#pragma once

#include <memory>
#include <variant>

#include "data/augment/augmentation.h"
#include "data/augment/number_keys.h"
#include "data/augment/sample_view.h"

namespace trainyard {

/// += amount[c], limited to the sample's least and largest value.
struct ShiftChannels {
  static constexpr std::uint32_t kNumber = change_number("shift_channels");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const float least = sample.least(team), most = sample.largest(team);
    sample.map(team,
               [&](float x, std::int64_t c) { return limited(x + step.amount[c], least, most); });
  }
};

/// Adds uniform(-range, range) to each channel (word c of the draw), limited to the image's least
/// and largest value (keras 2.1.6, preprocessing/image.py, random_channel_shift).
class ChannelShift final : public ColourAugmentation {
 public:
  static constexpr std::string_view kName = "channel_shift";
  static constexpr std::string_view kHelp = "adds a random amount to each channel";
  using Changes = std::variant<ShiftChannels>;
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit ChannelShift(double range) : range_(range) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourTransform* out) const override;

 private:
  double range_;
};

/// Stretched to 0..255 and rounded down, *= amount[0], rounded down, at most 255: Keras 2.1.6's
/// brightness, that is array_to_img, whose scaling makes the largest value 255, then Pillow's
/// ImageEnhance.Brightness.
struct Stretch {
  static constexpr std::uint32_t kNumber = change_number("stretch");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const float least = sample.least(team);
    const float raised = least < 0.0f ? -least : 0.0f;
    const float most = sample.largest(team) + raised;
    const float factor = step.amount[0];
    sample.map(team, [&](float x, std::int64_t) {
      const float up = x + raised;
      const float whole = __builtin_floorf(most != 0.0f ? up / most * 255.0f : up);
      const float bright = factor * whole;
      return bright >= 255.0f ? 255.0f : __builtin_floorf(bright);
    });
  }
};

/// Multiplies by uniform(low, high), word 0 of the draw, what is first stretched so that its
/// largest value is 255; values are rounded down (keras 2.1.6, random_brightness, with the scaling
/// of its array_to_img, and Pillow's ImageEnhance.Brightness).
class Brightness final : public ColourAugmentation {
 public:
  static constexpr std::string_view kName = "brightness";
  static constexpr std::string_view kHelp = "random brightness, as Keras has it";
  using Changes = std::variant<Stretch>;
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit Brightness(NumberRange range) : range_(range) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourTransform* out) const override;

 private:
  NumberRange range_;
};

/// 8-bit hue, lightness and saturation += amount[0..2].
struct ShiftHls {
  static constexpr std::uint32_t kNumber = change_number("shift_hls");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    sample.map_pixels(team, [&](const Rgb& p) {
      const Rgb bytes{as_byte(p.r), as_byte(p.g), as_byte(p.b)};
      return with_hls_added(bytes, step.amount[0], step.amount[1], step.amount[2]);
    });
  }
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
  static constexpr std::string_view kName = "hls_jitter";
  static constexpr std::string_view kHelp =
      "random offsets of hue, lightness and saturation, as MXNet has them";
  using Changes = std::variant<ShiftHls>;
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit HlsJitter(HlsJitterOptions options) : options_(options) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourTransform* out) const override;

 private:
  HlsJitterOptions options_;
};

/// *= amount[0].
struct Brighten {
  static constexpr std::uint32_t kNumber = change_number("brightness");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    sample.map(team,
               [&](float x, std::int64_t) { return limited(step.amount[0] * x, 0.0f, 255.0f); });
  }
};

/// amount[0] times the distance from the sample's mean grey.
struct Contrast {
  static constexpr std::uint32_t kNumber = change_number("contrast");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const double grey = team.template sum<double>(sample.plane, [&](std::int64_t i) {
      return static_cast<double>(grey_of(sample.pixel(i)));
    });
    const float rest =
        (1.0f - step.amount[0]) * static_cast<float>(grey / static_cast<double>(sample.plane));
    sample.map(team, [&](float x, std::int64_t) {
      return limited(step.amount[0] * x + rest, 0.0f, 255.0f);
    });
  }
};

/// amount[0] times the distance from the pixel's grey.
struct Saturate {
  static constexpr std::uint32_t kNumber = change_number("saturation");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const float kept = step.amount[0];
    sample.map_pixels(team, [&](const Rgb& p) {
      const float grey = (1.0f - kept) * grey_of(p);
      return Rgb{limited(kept * p.r + grey, 0.0f, 255.0f), limited(kept * p.g + grey, 0.0f, 255.0f),
                 limited(kept * p.b + grey, 0.0f, 255.0f)};
    });
  }
};

/// The hue turned by amount[0] of a circle.
struct TurnHue {
  static constexpr std::uint32_t kNumber = change_number("hue");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    sample.map_pixels(team, [&](const Rgb& p) { return with_hue_turned(p, step.amount[0]); });
  }
};

struct ColourJitterOptions {
  double brightness = 0, contrast = 0, saturation = 0;  // factors of max(0, 1 - b) .. 1 + b
  double hue = 0;                                       // -hue .. hue of a circle, at most 0.5
};

/// Changes brightness, contrast, saturation and hue by drawn amounts in a drawn order: torchvision
/// 0.14's ColorJitter on images in float. Words 0 to 3 of the first call are the amounts, those of
/// the second the order; a range of 0 leaves its change out.
class ColourJitter final : public ColourAugmentation {
 public:
  static constexpr std::string_view kName = "colour_jitter";
  static constexpr std::string_view kHelp =
      "random brightness, contrast, saturation and hue, as torchvision has them";
  using Changes = std::variant<Brighten, Contrast, Saturate, TurnHue>;
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit ColourJitter(ColourJitterOptions options) : options_(options) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] std::int32_t colour_transforms() const override;
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourTransform* out) const override;

 private:
  ColourJitterOptions options_;
};

}  // namespace trainyard

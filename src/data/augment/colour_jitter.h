// torchvision's random colours.
#pragma once

#include <memory>
#include <variant>

#include "data/augment/augmentation.h"
#include "data/augment/sample_view.h"

namespace trainyard {

/// *= amount[0].
struct Brighten {
  static constexpr std::uint32_t kNumber = change_number("brightness");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourStep& step, const SampleView& sample) {
    sample.map(team,
               [&](float x, std::int64_t) { return limited(step.amount[0] * x, 0.0f, 255.0f); });
  }
};

/// amount[0] times the distance from the sample's mean grey.
struct Contrast {
  static constexpr std::uint32_t kNumber = change_number("contrast");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourStep& step, const SampleView& sample) {
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
  TY_HD static void apply(const Team& team, const ColourStep& step, const SampleView& sample) {
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
  TY_HD static void apply(const Team& team, const ColourStep& step, const SampleView& sample) {
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
  [[nodiscard]] std::int32_t colour_steps() const override;
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourStep* out) const override;

 private:
  ColourJitterOptions options_;
};

}  // namespace trainyard

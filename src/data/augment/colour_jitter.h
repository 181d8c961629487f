// torchvision's random colours.
#pragma once

#include "data/augment/augmentation.h"

namespace trainyard {

struct ColourJitterOptions {
  double brightness = 0, contrast = 0, saturation = 0;  // factors of max(0, 1 - b) .. 1 + b
  double hue = 0;                                       // -hue .. hue of a circle, at most 0.5
};

/// Changes brightness, contrast, saturation and hue by drawn amounts in a drawn order: torchvision
/// 0.14's ColorJitter on images in float. Words 0 to 3 of the first call are the amounts, those of
/// the second the order; a range of 0 leaves its change out.
class ColourJitter final : public ColourAugmentation {
 public:
  explicit ColourJitter(ColourJitterOptions options) : options_(options) {}
  [[nodiscard]] std::string_view name() const override { return "colour_jitter"; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] std::int32_t colour_steps() const override;
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourStep* out) const override;

 private:
  ColourJitterOptions options_;
};

[[nodiscard]] std::unique_ptr<Augmentation> read_colour_jitter(config::Fields& fields);

}  // namespace trainyard

#include "data/augment/colour_jitter.h"

#include <algorithm>
#include <utility>

#include "data/augment/colours.h"

namespace trainyard {

namespace {

float drawn_factor(double range, std::uint32_t word) {
  return static_cast<float>(uniform(std::max(0.0, 1 - range), 1 + range, word));
}

}  // namespace

Shape ColourJitter::output_shape(const Shape& shape) const {
  require_colours(name(), shape);
  return shape;
}

std::int32_t ColourJitter::colour_steps() const {
  return (options_.brightness > 0) + (options_.contrast > 0) + (options_.saturation > 0) +
         (options_.hue > 0);
}

void ColourJitter::colours(const SampleKey& key, std::uint32_t draw, const Shape&,
                           ColourStep* out) const {
  const Random4 amounts = augment_words(key, draw), order = augment_words(key, draw, 1);
  int count = 0;
  const auto add = [&](std::uint32_t change, double range, float amount) {
    if (range > 0) out[count++] = {.change = change, .amount = {amount}};
  };
  add(Brighten::kNumber, options_.brightness, drawn_factor(options_.brightness, amounts.word[0]));
  add(Contrast::kNumber, options_.contrast, drawn_factor(options_.contrast, amounts.word[1]));
  add(Saturate::kNumber, options_.saturation, drawn_factor(options_.saturation, amounts.word[2]));
  add(TurnHue::kNumber, options_.hue,
      static_cast<float>(uniform(-options_.hue, options_.hue, amounts.word[3])));
  for (int i = count - 1; i > 0; --i) std::swap(out[i], out[drawn_index(i, order.word[i])]);
}

std::unique_ptr<Augmentation> ColourJitter::read(config::Fields& fields) {
  ColourJitterOptions options;
  constexpr config::Limits kFactor{.minimum = 0, .maximum = 100};
  fields.field("brightness", options.brightness, "largest change of the factor 1", kFactor);
  fields.field("contrast", options.contrast, "largest change of the factor 1", kFactor);
  fields.field("saturation", options.saturation, "largest change of the factor 1", kFactor);
  fields.field("hue", options.hue, "largest turn, in circles", {.minimum = 0, .maximum = 0.5});
  const bool any =
      options.brightness > 0 || options.contrast > 0 || options.saturation > 0 || options.hue > 0;
  if (!fields.describing() && !any) {
    fields.error("",
                 "expected at least one of 'brightness', 'contrast', 'saturation' and 'hue' "
                 "above 0");
  }
  return std::make_unique<ColourJitter>(options);
}

}  // namespace trainyard

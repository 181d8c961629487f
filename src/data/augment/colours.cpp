#include "data/augment/colours.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trainyard {

namespace {

/// uniform(-range, range) without its fraction, in float as MXNet has it.
float whole_offset(std::int64_t range, std::uint32_t word) {
  const auto reach = static_cast<float>(range);
  return static_cast<float>(static_cast<int>(uniform01(word) * reach * 2.0f - reach));
}

float drawn_factor(double range, std::uint32_t word) {
  return static_cast<float>(uniform(std::max(0.0, 1 - range), 1 + range, word));
}

/// Throws Error{config} unless images of `shape` have three channels.
void require_colours(std::string_view name, const Shape& shape) {
  if (shape[0] == 3) return;
  throw Error(ErrorKind::config, std::string(name) + ": the images have " +
                                     std::to_string(shape[0]) +
                                     " channels, expected 3: red, green and blue");
}

}  // namespace

Shape ChannelShift::output_shape(const Shape& shape) const {
  if (shape[0] <= kMostColourChannels) return shape;
  throw Error(ErrorKind::config, "channel_shift: the images have " + std::to_string(shape[0]) +
                                     " channels, expected at most " +
                                     std::to_string(kMostColourChannels));
}

void ChannelShift::colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
                           ColourTransform* out) const {
  const Random4 random = augment_words(key, draw);
  *out = {.change = ShiftChannels::kNumber};
  for (int c = 0; c < shape[0]; ++c) {
    out->amount[c] = static_cast<float>(uniform(-range_, range_, random.word[c]));
  }
}

void Brightness::colours(const SampleKey& key, std::uint32_t draw, const Shape&,
                         ColourTransform* out) const {
  const double factor = uniform(range_.low, range_.high, augment_words(key, draw).word[0]);
  *out = {.change = Stretch::kNumber, .amount = {static_cast<float>(factor)}};
}

Shape HlsJitter::output_shape(const Shape& shape) const {
  require_colours(name(), shape);
  return shape;
}

void HlsJitter::colours(const SampleKey& key, std::uint32_t draw, const Shape&,
                        ColourTransform* out) const {
  const Random4 random = augment_words(key, draw);
  *out = {
      .change = ShiftHls::kNumber,
      .amount = {whole_offset(options_.h, random.word[0]), whole_offset(options_.l, random.word[1]),
                 whole_offset(options_.s, random.word[2])}};
}

std::unique_ptr<Augmentation> ChannelShift::read(config::Fields& fields) {
  double range = 0;
  fields.required("range", range, "largest amount added to a channel, either way",
                  {.minimum = 0, .maximum = 1e6});
  return std::make_unique<ChannelShift>(range);
}

std::unique_ptr<Augmentation> Brightness::read(config::Fields& fields) {
  return std::make_unique<Brightness>(read_range(fields, "range", "factors of the brightness", 0));
}

std::unique_ptr<Augmentation> HlsJitter::read(config::Fields& fields) {
  HlsJitterOptions options;
  constexpr config::Limits kOffset{.minimum = 0, .maximum = 255};
  fields.field("h", options.h, "largest offset of the hue, a circle being 180", kOffset);
  fields.field("l", options.l, "largest offset of the lightness, of 255", kOffset);
  fields.field("s", options.s, "largest offset of the saturation, of 255", kOffset);
  return std::make_unique<HlsJitter>(options);
}

Shape ColourJitter::output_shape(const Shape& shape) const {
  require_colours(name(), shape);
  return shape;
}

std::int32_t ColourJitter::colour_transforms() const {
  return (options_.brightness > 0) + (options_.contrast > 0) + (options_.saturation > 0) +
         (options_.hue > 0);
}

void ColourJitter::colours(const SampleKey& key, std::uint32_t draw, const Shape&,
                           ColourTransform* out) const {
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

// Changes of bytes that are made with a probability: torchvision's RandomSolarize, RandomPosterize,
// RandomAdjustSharpness, RandomEqualize, RandomAutocontrast, RandomInvert and RandomGrayscale, in
// their PIL form.
#pragma once

#include <memory>
#include <variant>

#include "base/error.h"
#include "data/augment/augmentation.h"
#include "data/augment/byte_changes.h"

namespace trainyard {

/// Throws Error{config} unless images of `shape` are grey, or have red, green and blue.
inline void require_grey_or_rgb(std::string_view name, const Shape& shape) {
  if (shape[0] == 1 || shape[0] == 3) return;
  throw Error(ErrorKind::config, std::string(name) + ": the images have " +
                                     std::to_string(shape[0]) + " channels, expected 1 or 3");
}

/// Makes a change if word 0 of the draw is below the probability, torchvision's if not given.
template <class Change>
class RandomChange final : public ColourAugmentation {
 public:
  static constexpr std::string_view kName = Change::kName;
  static constexpr std::string_view kHelp = Change::kHelp;
  using Changes = std::variant<Change>;
  explicit RandomChange(config::Fields& fields) {
    if constexpr (requires { Change::kProbability; }) probability_ = Change::kProbability;
    if constexpr (requires { Change::read(fields); }) amount_ = Change::read(fields);
    fields.field("probability", probability_, "chance of changing a sample",
                 {.minimum = 0, .maximum = 1});
  }
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields) {
    return std::make_unique<RandomChange>(fields);
  }
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override {
    if (Change::kNumber == MakeGrey::kNumber) require_grey_or_rgb(kName, shape);
    return shape;
  }
  [[nodiscard]] bool needs_room() const override {
    return requires { Change::kNeedsRoom; };
  }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape&,
               ColourTransform* out) const override {
    *out = {};
    if (!happens(probability_, augment_words(key, draw).word[0])) return;
    *out = {.change = Change::kNumber, .amount = {amount_}};
  }

 private:
  float amount_ = 1;
  double probability_ = 0.5;
};

using Solarize = RandomChange<InvertBright>;
using Posterize = RandomChange<DropLowBits>;
using Sharpness = RandomChange<Sharpen>;
using Equalize = RandomChange<EqualizeBytes>;
using AutoContrast = RandomChange<StretchBytes>;
using Invert = RandomChange<InvertBytes>;
using Grayscale = RandomChange<MakeGrey>;

}  // namespace trainyard

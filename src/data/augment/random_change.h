// Changes of bytes that are made with a probability: torchvision's RandomAdjustSharpness,
// RandomEqualize, RandomAutocontrast, RandomInvert and RandomGrayscale, in their PIL form.
#pragma once

#include <memory>
#include <variant>

#include "base/error.h"
#include "data/augment/augmentation.h"
#include "data/augment/byte_changes.h"
#include "data/augment/sample_view.h"

namespace trainyard {

// Values of fewer bits, as torchvision's RandomPosterize.

/// Whole multiples of amount[0], bytes rounded down.
struct DropLowBits {
  static constexpr std::uint32_t kNumber = change_number("posterize");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const float unit = step.amount[0];
    sample.map(team,
               [=](float x, std::int64_t) { return __builtin_floorf(as_byte(x) / unit) * unit; });
  }
};

/// Keeps the highest bits of 8 with a probability: if word 0 of the draw is below it (torchvision
/// 0.14, transforms/functional_tensor.py, posterize).
class Posterize final : public ColourAugmentation {
 public:
  static constexpr std::string_view kName = "posterize";
  static constexpr std::string_view kHelp = "keeps the highest bits with a probability";
  using Changes = std::variant<DropLowBits>;
  explicit Posterize(config::Fields& fields) {
    fields.field("bits", bits_, "bits that are kept, of 8", {.minimum = 0, .maximum = 8});
    fields.field("probability", probability_, "of changing a sample", {.minimum = 0, .maximum = 1});
  }
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields) {
    return std::make_unique<Posterize>(fields);
  }
  [[nodiscard]] std::string_view name() const override { return kName; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape&,
               ColourTransform* out) const override {
    *out = {};
    if (!happens(probability_, augment_words(key, draw).word[0])) return;
    *out = {.change = DropLowBits::kNumber, .amount = {static_cast<float>(1 << (8 - bits_))}};
  }

 private:
  std::int64_t bits_ = 4;
  double probability_ = 0.5;
};

// Inverted bright values, as torchvision's RandomSolarize.

/// 255 - x where the byte x is at least amount[0].
struct InvertBright {
  static constexpr std::uint32_t kNumber = change_number("solarize");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const float threshold = step.amount[0];
    sample.map(team, [=](float x, std::int64_t) {
      const float byte = as_byte(x);
      return byte >= threshold ? 255.0f - byte : byte;
    });
  }
};

/// Inverts the values from a threshold on with a probability: if word 0 of the draw is below it
/// (torchvision 0.14, transforms/functional_tensor.py, solarize).
class Solarize final : public ColourAugmentation {
 public:
  static constexpr std::string_view kName = "solarize";
  static constexpr std::string_view kHelp = "inverts bright values with a probability";
  using Changes = std::variant<InvertBright>;
  explicit Solarize(config::Fields& fields) {
    fields.field("threshold", threshold_, "the least value that is inverted, of 0 to 255",
                 {.minimum = 0, .maximum = 256});
    fields.field("probability", probability_, "of changing a sample", {.minimum = 0, .maximum = 1});
  }
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields) {
    return std::make_unique<Solarize>(fields);
  }
  [[nodiscard]] std::string_view name() const override { return kName; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape&,
               ColourTransform* out) const override {
    *out = {};
    if (!happens(probability_, augment_words(key, draw).word[0])) return;
    *out = {.change = InvertBright::kNumber, .amount = {static_cast<float>(threshold_)}};
  }

 private:
  double threshold_ = 128, probability_ = 0.5;
};

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
    if constexpr (requires { Change::kFactor; }) {
      fields.required("factor", factor_, Change::kFactor, {.minimum = 0, .maximum = 100});
    }
    fields.field("probability", probability_, "of changing a sample", {.minimum = 0, .maximum = 1});
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
    *out = {.change = Change::kNumber, .amount = {static_cast<float>(factor_)}};
  }

 private:
  double factor_ = 1, probability_ = 0.5;
};

using Sharpness = RandomChange<Sharpen>;
using Equalize = RandomChange<EqualizeBytes>;
using AutoContrast = RandomChange<StretchBytes>;
using Invert = RandomChange<InvertBytes>;
using Grayscale = RandomChange<MakeGrey>;

}  // namespace trainyard

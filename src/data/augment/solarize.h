// Inverted bright values, as torchvision's RandomSolarize.
#pragma once

#include <memory>
#include <variant>

#include "data/augment/augmentation.h"
#include "data/augment/sample_view.h"

namespace trainyard {

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

}  // namespace trainyard

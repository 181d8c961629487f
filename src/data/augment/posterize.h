// Values of fewer bits, as torchvision's RandomPosterize.
#pragma once

#include <memory>
#include <variant>

#include "data/augment/augmentation.h"
#include "data/augment/sample_view.h"

namespace trainyard {

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

}  // namespace trainyard

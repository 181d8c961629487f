// Random mirroring.
#pragma once

#include <memory>

#include "data/augment/augmentation.h"

namespace trainyard {

/// Mirrors columns (hflip) or rows (vflip) with a probability: if word 0 of the draw is below it.
/// One that alternates draws once for each sample, and mirrors it in every second epoch from then
/// on (airbench).
class Flip final : public Augmentation {
 public:
  enum class Axis { horizontal, vertical };
  Flip(Axis axis, double probability, bool alternate = false)
      : axis_(axis), probability_(probability), alternate_(alternate) {}
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields, Axis axis) {
    double probability = 0.5;
    fields.field("probability", probability, "chance of mirroring a sample",
                 {.minimum = 0, .maximum = 1});
    bool alternate = false;
    fields.field("alternate", alternate, "draws in the first epoch and then takes turns");
    return std::make_unique<Flip>(axis, probability, alternate);
  }
  [[nodiscard]] std::string_view name() const override {
    return axis_ == Axis::horizontal ? "hflip" : "vflip";
  }
  [[nodiscard]] SpatialTransform step(const SampleKey& key, std::uint32_t draw,
                                      const Shape& shape) const override {
    SampleKey drawn = key;
    if (alternate_) drawn.epoch = 0;
    const bool turned = alternate_ && key.epoch % 2 == 1;
    const bool flip = happens(probability_, augment_words(drawn, draw).word[0]) != turned;
    SpatialTransform step = identity_step(shape);
    step.mirror_x = flip && axis_ == Axis::horizontal;
    step.mirror_y = flip && axis_ == Axis::vertical;
    return step;
  }
  [[nodiscard]] bool commutes_with_colours() const override { return true; }

 private:
  Axis axis_;
  double probability_;
  bool alternate_;
};

struct HorizontalFlip {
  static constexpr std::string_view kName = "hflip";
  static constexpr std::string_view kHelp = "mirrors left and right with a probability";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields) {
    return Flip::read(fields, Flip::Axis::horizontal);
  }
};

struct VerticalFlip {
  static constexpr std::string_view kName = "vflip";
  static constexpr std::string_view kHelp = "mirrors top and bottom with a probability";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields) {
    return Flip::read(fields, Flip::Axis::vertical);
  }
};

}  // namespace trainyard

// Random mirroring.
#pragma once

#include <memory>

#include "data/augment/augmentation.h"

namespace trainyard {

/// Mirrors columns (hflip) or rows (vflip) with a probability: if word 0 of the draw is below it.
class Flip final : public Augmentation {
 public:
  enum class Axis { horizontal, vertical };
  Flip(Axis axis, double probability) : axis_(axis), probability_(probability) {}
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields, Axis axis) {
    double probability = 0.5;
    fields.field("probability", probability, "of mirroring a sample", {.minimum = 0, .maximum = 1});
    return std::make_unique<Flip>(axis, probability);
  }
  [[nodiscard]] std::string_view name() const override {
    return axis_ == Axis::horizontal ? "hflip" : "vflip";
  }
  [[nodiscard]] SpatialTransform step(const SampleKey& key, std::uint32_t draw,
                                      const Shape& shape) const override {
    const bool flip = happens(probability_, augment_words(key, draw).word[0]);
    SpatialTransform step = identity_step(shape);
    step.mirror_x = flip && axis_ == Axis::horizontal;
    step.mirror_y = flip && axis_ == Axis::vertical;
    return step;
  }
  [[nodiscard]] bool commutes_with_colours() const override { return true; }

 private:
  Axis axis_;
  double probability_;
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

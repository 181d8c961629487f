// Random mirroring.
#pragma once

#include "data/augment/augmentation.h"

namespace trainyard {

/// Mirrors columns (hflip) or rows (vflip) with a probability: if word 0 of the draw is below it.
class Flip final : public Augmentation {
 public:
  enum class Axis { horizontal, vertical };
  Flip(Axis axis, double probability) : axis_(axis), probability_(probability) {}
  [[nodiscard]] std::string_view name() const override {
    return axis_ == Axis::horizontal ? "hflip" : "vflip";
  }
  [[nodiscard]] SpatialStep step(const SampleKey& key, std::uint32_t draw,
                                 const Shape& shape) const override;
  [[nodiscard]] bool commutes_with_colours() const override { return true; }

 private:
  Axis axis_;
  double probability_;
};

[[nodiscard]] std::unique_ptr<Augmentation> read_hflip(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Augmentation> read_vflip(config::Fields& fields);

}  // namespace trainyard

// Erased squares.
#pragma once

#include "data/augmentation.h"

namespace trainyard {

/// Sets a square of `size` pixels, of which the part inside the image counts, to `value`: DeVries
/// and Taylor, "Improved regularization of convolutional neural networks with Cutout", 2017
/// (arXiv 1708.04552). Its centre is any pixel, all equally likely: words 0 (y) and 1 (x).
class Cutout final : public ColourAugmentation {
 public:
  Cutout(std::int64_t size, double value) : size_(size), value_(value) {}
  [[nodiscard]] std::string_view name() const override { return "cutout"; }
  [[nodiscard]] std::int32_t colour_steps() const override { return 1; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourStep* out) const override;

 private:
  std::int64_t size_;
  double value_;
};

[[nodiscard]] std::unique_ptr<Augmentation> read_cutout(config::Fields& fields);

}  // namespace trainyard

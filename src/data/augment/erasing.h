// Erased squares and windows.
#pragma once

#include "data/augment/augmentation.h"
#include "data/augment/random_window.h"

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

struct RandomErasingOptions {
  double probability = 0.5;
  NumberRange scale{0.02, 0.33};  // of the area, a part of the image's
  NumberRange ratio{0.3, 3.3};    // height / width
  std::vector<float> value{0};    // one, or one per channel; empty: random
};

/// Erases a random window (random_window.h) smaller than the image, with a probability, or nothing
/// if no try fits: Zhong et al., "Random Erasing Data Augmentation", 2017 (arXiv 1708.04896), with
/// the draws of torchvision 0.14's RandomErasing. Its values are given ones, or whole numbers of
/// 0..255, all equally likely, for each pixel and channel (the paper's; torchvision's are normal,
/// of standardised images). Call kWindowTries has the probability (word 0) and the seed of these
/// (words 1 and 2).
class RandomErasing final : public ColourAugmentation {
 public:
  explicit RandomErasing(RandomErasingOptions options);
  [[nodiscard]] std::string_view name() const override { return "random_erasing"; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] std::int32_t colour_steps() const override { return 1; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourStep* out) const override;

 private:
  RandomErasingOptions options_;
  WindowRanges window_;
};

[[nodiscard]] std::unique_ptr<Augmentation> read_cutout(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Augmentation> read_random_erasing(config::Fields& fields);

}  // namespace trainyard

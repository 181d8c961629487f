// torchvision's random crop of any area and aspect ratio, stretched to one size.
#pragma once

#include "data/augment/random_window.h"
#include "data/augment/warp.h"

namespace trainyard {

struct RandomResizedCropOptions {
  config::Pair size;
  WindowRanges window{.area = {0.08, 1}, .aspect = {3.0 / 4, 4.0 / 3}};
  double center = 0.875;  // of the sides, in evaluation
};

/// Stretches a random window of the image (random_window.h) to a size, as Resize does: torchvision
/// 0.14's RandomResizedCrop without antialiasing. If no try fits in the image, the window is its
/// middle, as large as the range of aspect ratios lets it be. Beside the window's edge it reads the
/// image's own pixels, as Pillow's resize with a box; torchvision repeats the window's.
/// In evaluation the window is the middle of the image, of the aspect ratio of the size, with the
/// part `center` of the sides that would fit: with 224 / 256, the default, it is that of
/// torchvision's Resize(256) and CenterCrop(224), not rounded to pixels.
class RandomResizedCrop final : public Warp {
 public:
  static constexpr std::string_view kName = "random_resized_crop";
  static constexpr std::string_view kHelp =
      "a random part, stretched to a size, as torchvision has it";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  RandomResizedCrop(const RandomResizedCropOptions& options, Sampling sampling)
      : Warp(sampling), options_(options) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] Affine map(const SampleKey& key, std::uint32_t draw,
                           const Shape& shape) const override;
  [[nodiscard]] Affine eval_map(const Shape& shape) const override;

 private:
  RandomResizedCropOptions options_;
};

}  // namespace trainyard

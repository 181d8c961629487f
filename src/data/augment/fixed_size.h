// Augmentations that give images another size, in training and in evaluation alike: for pictures
// that have sizes of their own, they come first.
#pragma once

#include "data/augment/warp.h"

namespace trainyard {

/// Stretches an image to [h, w], or so that its shorter side has `side` pixels and the longer one
/// floor(side * longer / shorter) (torchvision's Resize). It reads between pixels edge to edge, as
/// PyTorch's interpolate with align_corners=False, and does not smooth: pictures that become much
/// smaller should be read at about that size by their source.
class Resize final : public Warp {
 public:
  static constexpr std::string_view kName = "resize";
  static constexpr std::string_view kHelp = "stretches to a size, or to a shorter side";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit Resize(std::int64_t side, Sampling sampling) : Warp(sampling), side_(side) {}
  explicit Resize(config::Pair size, Sampling sampling) : Warp(sampling), size_(size) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] Affine map(const SampleKey& key, std::uint32_t draw,
                           const Shape& shape) const override;
  [[nodiscard]] Affine eval_map(const Shape& shape) const override;

 private:
  std::int64_t side_ = 0;  // 0: size_
  config::Pair size_;
};

/// The centre of an image, or the upper left of two central windows; a smaller image gets a border
/// of zeros, as in torchvision's CenterCrop.
class CenterCrop final : public Augmentation {
 public:
  static constexpr std::string_view kName = "center_crop";
  static constexpr std::string_view kHelp = "the centre of the image";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit CenterCrop(config::Pair size) : size_(size) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] SpatialStep step(const SampleKey& key, std::uint32_t draw,
                                 const Shape& shape) const override;
  [[nodiscard]] SpatialStep eval_step(const Shape& shape) const override;

 private:
  config::Pair size_;
};

}  // namespace trainyard

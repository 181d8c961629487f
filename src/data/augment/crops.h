// Augmentations that give images another size: resize, center_crop, random_resized_crop, pad_crop.
// For images that differ in size, the first or the third come first.
#pragma once

#include <optional>

#include "data/augment/random_window.h"
#include "data/augment/warp.h"
#include "data/images/image.h"

namespace trainyard {

/// Stretches an image to [h, w], or so that its shorter side has `side` pixels and the longer one
/// floor(side * longer / shorter) (torchvision's Resize). It reads between pixels edge to edge, as
/// PyTorch's interpolate with align_corners=False, and does not smooth: images that become much
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
  [[nodiscard]] SpatialTransform step(const SampleKey& key, std::uint32_t draw,
                                      const Shape& shape) const override;
  [[nodiscard]] SpatialTransform eval_step(const Shape& shape) const override;

 private:
  config::Pair size_;
};

/// The filters whose coefficients are sums and products, in the order of ResizeFilter: all devices
/// have the same bits.
enum class CropFilter { box, bilinear, bicubic, none };
[[nodiscard]] constexpr config::Words<CropFilter> words(CropFilter) {
  return {"box", "bilinear", "bicubic", "none"};
}

struct RandomResizedCropOptions {
  config::Pair size;
  WindowRanges window{.area = {0.08, 1}, .aspect = {3.0 / 4, 4.0 / 3}};
  double center = 0.875;  // share of the sides, in evaluation
  CropFilter filter = CropFilter::none;
};

/// Stretches a random window of the image (random_window.h) to a size, as Resize does: torchvision
/// 0.14's RandomResizedCrop without antialiasing. If no try fits in the image, the window is its
/// middle, as large as the range of aspect ratios lets it be. Beside the window's edge it reads the
/// image's own pixels, as Pillow's resize with a box; torchvision repeats the window's.
/// With a filter it is antialiased: the window, of bytes, is cut out and resized as Pillow does it,
/// which is torchvision's RandomResizedCrop of a PIL image.
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
  [[nodiscard]] SpatialTransform step(const SampleKey& key, std::uint32_t draw,
                                      const Shape& shape) const override;
  [[nodiscard]] SpatialTransform eval_step(const Shape& shape) const override;
  [[nodiscard]] bool interpolates() const override { return filters() || Warp::interpolates(); }
  [[nodiscard]] bool needs_bytes() const override { return filters(); }
  [[nodiscard]] const Warp* warp() const override { return filters() ? nullptr : this; }

 private:
  [[nodiscard]] bool filters() const { return options_.filter != CropFilter::none; }
  [[nodiscard]] ImageWindow window(const SampleKey& key, std::uint32_t draw,
                                   const Shape& shape) const;
  /// A part of a window of an image of `shape`, in pixels from the window's corner, resized with
  /// the filter.
  [[nodiscard]] SpatialTransform resized_window(const Shape& shape, const ImageWindow& window,
                                                const ImageBox& part) const;

  RandomResizedCropOptions options_;
};

struct PadCropOptions {
  std::int64_t pad = 4;              // pixels on each side
  double value = 0;                  // value of constant padding, before preprocessing
  Fill fill = Fill::constant;        // how the padding is made
  std::optional<config::Pair> size;  // size of the crop; the input's if empty
};
void declare(config::Fields& fields, PadCropOptions& options);

/// Pads on all sides and cuts a window at one of the (h + 2 pad - size + 1) positions of each axis,
/// all equally likely (words 0, y, and 1, x, of the draw). Evaluation takes the centre, or the
/// upper left of two central positions.
class PadCrop final : public Augmentation {
 public:
  static constexpr std::string_view kName = "pad_crop";
  static constexpr std::string_view kHelp =
      "random crop of the padded image; the centre in evaluation";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit PadCrop(PadCropOptions options) : options_(options) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  [[nodiscard]] SpatialTransform step(const SampleKey& key, std::uint32_t draw,
                                      const Shape& shape) const override;
  [[nodiscard]] SpatialTransform eval_step(const Shape& shape) const override;

 private:
  /// The upper left corner in the padded image.
  struct Corner {
    std::int64_t y = 0;
    std::int64_t x = 0;
  };
  /// The largest corner: positions along each axis, minus one.
  [[nodiscard]] Corner last_corner(const Shape& shape) const;
  [[nodiscard]] SpatialTransform crop(const Corner& corner, const Shape& shape) const;

  PadCropOptions options_;
};

}  // namespace trainyard

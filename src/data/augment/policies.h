// Policies that draw operations of a table: torchvision's TrivialAugmentWide, RandAugment and
// AutoAugment.
//
// Operations that move pixels are changes of the sample like those of its bytes, so that a policy
// may make them in any order.
#pragma once

#include <memory>
#include <variant>

#include "data/augment/augmentation.h"
#include "data/augment/byte_changes.h"
#include "data/augment/spatial_transform.h"

namespace trainyard {

/// out(y, x) = in(row, column), where column >> 16 and row >> 16 are x * map[0] + y * map[1] +
/// map[2] and x * map[3] + y * map[4] + map[5]; 0 outside of the image (Pillow,
/// libImaging/Geometry.c, affine_fixed). Values are rounded to bytes.
struct MovePixels {
  static constexpr std::uint32_t kNumber = change_number("move_pixels");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const std::int64_t width = sample.width, height = sample.plane / width;
    const std::int64_t* const map = step.map;
    sample.map_planes(team, [=](const float* from, std::int64_t i) {
      const std::int64_t y = i / width, x = i - y * width;
      const std::int64_t column = (x * map[0] + y * map[1] + map[2]) >> 16;
      const std::int64_t row = (x * map[3] + y * map[4] + map[5]) >> 16;
      const bool inside = column >= 0 && column < width && row >= 0 && row < height;
      return inside ? as_byte(from[row * width + column]) : 0.0f;
    });
  }
};

/// The move by a map of points, from a pixel of the output to one of the input, where pixel (y, x)
/// is centred at (y + 0.5, x + 0.5). Its numbers are rounded to 2^-16.
[[nodiscard]] ColourTransform moved_by(const Affine& map);
/// Pillow's rotation about the image's centre, counterclockwise for positive degrees
/// (Image.rotate).
[[nodiscard]] Affine turned(double degrees, std::int64_t height, std::int64_t width);

/// A policy draws from 14 operations, all equally likely, of grey or RGB images: identity, shear,
/// translation, rotation, brightness, colour, contrast, sharpness, posterize, solarize,
/// autocontrast, equalize, in the PIL form, with nearest pixels and 0 outside. The magnitude is one
/// of 31 bins of an operation's range. AutoAugment inverts too, and has 10 bins.
class AugmentPolicy : public ColourAugmentation {
 public:
  static constexpr std::int64_t kLastBin = 30;
  using Changes = std::variant<MovePixels, BlendBlack, BlendGrey, BlendMean, Sharpen, DropLowBits,
                               InvertBright, StretchBytes, EqualizeBytes, InvertBytes>;
  [[nodiscard]] Shape output_shape(const Shape& shape) const final;
  [[nodiscard]] bool needs_room() const final { return true; }
  [[nodiscard]] bool moves_pixels() const final { return true; }
};

/// One operation (word 0 of the draw) with a bin of its wide range (word 1) and a sign (word 2):
/// Mueller and Hutter, "TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation", 2021
/// (arXiv 2103.10158); torchvision 0.29, transforms/autoaugment.py, TrivialAugmentWide.
class TrivialAugment final : public AugmentPolicy {
 public:
  static constexpr std::string_view kName = "trivial_augment";
  static constexpr std::string_view kHelp = "one random operation, as torchvision's wide policy";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  [[nodiscard]] std::string_view name() const override { return kName; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourTransform* out) const override;
};

/// n operations, one after the other and drawn with replacement, of one bin: operation k has word 0
/// and the sign word 2 of call k. Cubuk et al., "RandAugment: Practical automated data augmentation
/// with a reduced search space", 2019 (arXiv 1909.13719); torchvision 0.29, RandAugment.
class RandAugment final : public AugmentPolicy {
 public:
  static constexpr std::string_view kName = "rand_augment";
  static constexpr std::string_view kHelp = "random operations of one magnitude, as torchvision's";
  static constexpr std::int64_t kMostOperations = 16;
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  RandAugment(std::int64_t n, std::int64_t magnitude) : n_(n), magnitude_(magnitude) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::int32_t colour_transforms() const override {
    return static_cast<std::int32_t>(n_);
  }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourTransform* out) const override;

 private:
  std::int64_t n_, magnitude_;
};

/// One of 25 pairs of operations (word 0 of call 0), of which each is made with its probability
/// (words 1 and 2) and with a sign (words 0 and 1 of call 1), by magnitudes of 10 bins: Cubuk et
/// al., "AutoAugment: Learning Augmentation Policies from Data", 2018 (arXiv 1805.09501);
/// torchvision 0.29, AutoAugment with the policy CIFAR10.
class AutoAugment final : public AugmentPolicy {
 public:
  static constexpr std::string_view kName = "auto_augment";
  static constexpr std::string_view kHelp = "one of the 25 pairs of operations found for CIFAR-10";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] std::int32_t colour_transforms() const override { return 2; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourTransform* out) const override;
};

}  // namespace trainyard

// Erased squares and windows.
#pragma once

#include <memory>
#include <variant>

#include "base/philox.h"
#include "data/augment/augmentation.h"
#include "data/augment/random_window.h"
#include "data/augment/sample_view.h"

namespace trainyard {

/// Sets the pixels of the step's box, rows box[0]..box[1] - 1 and columns box[2]..box[3] - 1, to
/// f(pixel, channel).
template <class Team, class F>
TY_HD void map_box(const Team& team, const ColourTransform& step, const SampleView& sample,
                   const F& f) {
  const std::int64_t width = step.box[3] - step.box[2];
  const std::int64_t pixels = (step.box[1] - step.box[0]) * width;
  for (std::int64_t c = 0; c < sample.channels; ++c) {
    float* const of = sample.values + c * sample.plane;
    team.each(pixels, [&](std::int64_t i) {
      const std::int64_t pixel = (step.box[0] + i / width) * sample.width + step.box[2] + i % width;
      of[pixel] = f(pixel, c);
    });
  }
}

/// The box becomes amount_of(c).
struct Erase {
  static constexpr std::uint32_t kNumber = change_number("erase");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    map_box(team, step, sample,
            [&](std::int64_t, std::int64_t channel) { return step.amount_of(channel); });
  }
};

/// The box becomes whole numbers of 0..255, functions of seed, pixel and channel.
struct EraseRandomly {
  static constexpr std::uint32_t kNumber = change_number("erase_randomly");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    map_box(team, step, sample, [&](std::int64_t pixel, std::int64_t channel) {
      const Random4 random =
          random4(step.seed, RandomStream::augment, static_cast<std::uint32_t>(channel / 4), 0,
                  static_cast<std::uint64_t>(pixel));
      return static_cast<float>(random.word[channel % 4] >> 24);
    });
  }
};

/// Sets a square of `size` pixels, of which the part inside the image counts, to `value`: DeVries
/// and Taylor, "Improved regularization of convolutional neural networks with Cutout", 2017
/// (arXiv 1708.04552). Its centre is any pixel, all equally likely: words 0 (y) and 1 (x).
class Cutout final : public ColourAugmentation {
 public:
  static constexpr std::string_view kName = "cutout";
  static constexpr std::string_view kHelp = "erases a random square";
  using Changes = std::variant<Erase>;
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  Cutout(std::int64_t size, double value) : size_(size), value_(value) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourTransform* out) const override;

 private:
  std::int64_t size_;
  double value_;
};

struct RandomErasingOptions {
  double probability = 0.5;
  NumberRange scale{0.02, 0.33};  // share of the image's area
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
  static constexpr std::string_view kName = "random_erasing";
  static constexpr std::string_view kHelp = "erases a random window with a probability";
  using Changes = std::variant<Erase, EraseRandomly>;
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  explicit RandomErasing(RandomErasingOptions options);
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override;
  void colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
               ColourTransform* out) const override;

 private:
  RandomErasingOptions options_;
  WindowRanges window_;
};

}  // namespace trainyard

// Blurred images, as torchvision's GaussianBlur.
#pragma once

#include <algorithm>
#include <memory>
#include <variant>

#include "base/error.h"
#include "data/augment/augmentation.h"
#include "data/augment/number_keys.h"
#include "data/augment/sample_view.h"

namespace trainyard {

/// The mean of 2 amount[1] + 1 pixels along x, then along y, with the weights of a normal
/// distribution of deviation amount[0]; beyond the edge the image is mirrored, its edge not
/// repeated. In float, rounded to bytes before and after.
struct Blur {
  static constexpr std::uint32_t kNumber = change_number("gaussian_blur");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const auto half = static_cast<std::int64_t>(step.amount[1]);
    const std::int64_t taps = 2 * half + 1, w = sample.width, h = sample.plane / w;
    float* const weights = sample.table();
    team.each(taps, [&](std::int64_t k) {
      const float far = static_cast<float>(k - half) / step.amount[0];
      weights[k] = math::exp(-0.5f * far * far);
    });
    const float total = team.template sum<float>(taps, [&](std::int64_t k) { return weights[k]; });
    // at(k): the k-th of the pixels along an axis.
    const auto mean = [=](const auto& at) {
      float sum = 0;
      for (std::int64_t k = 0; k < taps; ++k) sum += weights[k] * at(k);
      return sum / total;
    };
    for (std::int64_t c = 0; c < sample.channels; ++c) {
      const SampleView one = sample.channel(c);
      team.each(one.plane, [&](std::int64_t i) {
        const std::int64_t x = i % w - half, line = i - i % w;
        one.room[i] = mean([&](std::int64_t k) {
          return as_byte(one.values[line + extended_index(x + k, w, Fill::mirror)]);
        });
      });
      team.each(one.plane, [&](std::int64_t i) {
        const std::int64_t y = i / w - half, x = i % w;
        one.values[i] = as_byte(mean([&](std::int64_t k) {
          return one.room[extended_index(y + k, h, Fill::mirror) * w + x];
        }));
      });
    }
  }
};

struct GaussianBlurOptions {
  std::int64_t size = 0;      // size of the window, in pixels; odd
  NumberRange sigma{0.1, 2};  // deviation, in pixels
  double probability = 1;
};

/// Blurs with a probability, if word 0 of the draw is below it, by a deviation of word 1
/// (torchvision 0.29, transforms.GaussianBlur, which always does; functional_tensor.gaussian_blur,
/// also of PIL images). torchvision adds the products of both axes at once, so that a sum within
/// about 1e-4 of halfway between two bytes may round to the other one.
class GaussianBlur final : public ColourAugmentation {
 public:
  static constexpr std::string_view kName = "gaussian_blur";
  static constexpr std::string_view kHelp = "blurs by a random amount with a probability";
  using Changes = std::variant<Blur>;
  explicit GaussianBlur(GaussianBlurOptions options) : options_(options) {}
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields) {
    GaussianBlurOptions options;
    fields.required("size", options.size, "side of the window, in pixels, odd",
                    {.minimum = 1, .maximum = SampleView::kTable - 1});
    read_bounds(fields, "sigma", options.sigma, "deviation, in pixels",
                {.minimum = 0.01, .maximum = 1000});
    fields.field("probability", options.probability, "chance of changing a sample",
                 {.minimum = 0, .maximum = 1});
    if (!fields.describing() && options.size % 2 == 0) {
      fields.error("size", "expected an odd number, found " + std::to_string(options.size));
    }
    return std::make_unique<GaussianBlur>(options);
  }
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Shape output_shape(const Shape& shape) const override {
    const bool known = shape[1] > 0;
    if (!known || options_.size / 2 < std::min(shape[1], shape[2])) return shape;
    throw Error(ErrorKind::config, "gaussian_blur: a window of " + std::to_string(options_.size) +
                                       " does not fit an image of " + std::to_string(shape[1]) +
                                       " x " + std::to_string(shape[2]) +
                                       ", which is mirrored once; lower 'size'");
  }
  [[nodiscard]] bool needs_room() const override { return true; }
  void colours(const SampleKey& key, std::uint32_t draw, const Shape&,
               ColourTransform* out) const override {
    const Random4 random = augment_words(key, draw);
    *out = {};
    if (!happens(options_.probability, random.word[0])) return;
    const double sigma = uniform(options_.sigma.low, options_.sigma.high, random.word[1]);
    *out = {.change = Blur::kNumber,
            .amount = {static_cast<float>(sigma), static_cast<float>(options_.size / 2)}};
  }

 private:
  GaussianBlurOptions options_;
};

}  // namespace trainyard

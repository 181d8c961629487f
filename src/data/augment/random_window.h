// Windows of drawn area and aspect ratio: what random_resized_crop keeps and random_erasing erases.
#pragma once

#include <cmath>
#include <optional>

#include "data/augment/draws.h"
#include "data/augment/number_keys.h"
#include "tensor/shape.h"

namespace trainyard {

/// A window of an image: its upper left pixel and its sides.
struct ImageWindow {
  std::int64_t y = 0, x = 0, h = 0, w = 0;
};

/// The ranges of a window's area, as a part of the image's, and of its aspect ratio w / h.
struct WindowRanges {
  NumberRange area;
  NumberRange aspect;
};

/// Tries before random_window() gives up: calls 0 to 9 of a draw. The next call is the caller's.
inline constexpr std::uint32_t kWindowTries = 10;

/// The first window of an image of `shape`, [c, h, w], in at most ten tries whose sides
/// fits(h, w) accepts, which must be within the image. A try draws the area (word 0, uniform), the
/// aspect ratio (word 1, uniform in its logarithm) and the place (words 2, y, and 3, x), and rounds
/// its sides to the nearest, halves to even (torchvision 0.14, RandomResizedCrop.get_params and
/// RandomErasing.get_params).
template <class Fits>
[[nodiscard]] std::optional<ImageWindow> random_window(const WindowRanges& ranges,
                                                       const SampleKey& key, std::uint32_t draw,
                                                       const Shape& shape, const Fits& fits) {
  const double pixels = static_cast<double>(shape[1] * shape[2]);
  const double first = std::log(ranges.aspect.low), last = std::log(ranges.aspect.high);
  for (std::uint32_t call = 0; call < kWindowTries; ++call) {
    const Random4 random = augment_words(key, draw, call);
    const double area = pixels * uniform(ranges.area.low, ranges.area.high, random.word[0]);
    const double aspect = std::exp(uniform(first, last, random.word[1]));
    const auto h = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area / aspect)));
    const auto w = static_cast<std::int64_t>(std::nearbyint(std::sqrt(area * aspect)));
    if (!fits(h, w)) continue;
    return ImageWindow{.y = drawn_index(shape[1] - h, random.word[2]),
                       .x = drawn_index(shape[2] - w, random.word[3]),
                       .h = h,
                       .w = w};
  }
  return std::nullopt;
}

}  // namespace trainyard

// The coefficients of Pillow's resize (Pillow 9 to 12, Resample.c), for one axis of an image.
#pragma once

#include <cstdint>
#include <numbers>

#include "base/host_device.h"
#include "base/math.h"
#include "config/fields.h"

namespace trainyard {

/// Pillow's filters of the same names. Each is stretched when an image becomes smaller, so that
/// every pixel counts (antialiasing).
enum class ResizeFilter : std::uint8_t { box, bilinear, bicubic, lanczos };
[[nodiscard]] constexpr config::Words<ResizeFilter> words(ResizeFilter) {
  return {"box", "bilinear", "bicubic", "lanczos"};
}

/// A filter is 0 at this distance from its centre and beyond.
TY_HD double filter_support(ResizeFilter filter) {
  return filter == ResizeFilter::box ? 0.5 : static_cast<double>(filter);
}

/// sin(pi x) / (pi x). A device's sine may differ from the host's in the last bits.
TY_HD double sinc(double x) {
  const double angle = x * std::numbers::pi;
  return x == 0 ? 1 : std::sin(angle) / angle;
}

TY_HD double filter_value(ResizeFilter filter, double x) {
  if (filter == ResizeFilter::box) return x > -0.5 && x <= 0.5 ? 1 : 0;
  if (filter == ResizeFilter::lanczos) return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
  x = math::abs(x);
  if (filter == ResizeFilter::bilinear) return x < 1 ? 1 - x : 0;
  constexpr double a = -0.5;  // of Keys' cubic
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// A part of an axis of `count` pixels, from `begin` on, whose output pixels are `scale` pixels
/// wide each.
struct ResizeAxis {
  static constexpr int kFractionBits = 22;
  static constexpr std::int32_t kHalf = 1 << (kFractionBits - 1);
  double begin = 0, scale = 1;
  std::int64_t count = 0;
  ResizeFilter filter = ResizeFilter::bilinear;

  /// Calls f(pixel, coefficient) for every pixel that output pixel `i` is a sum of, in order, with
  /// coefficients in units of 2^-22.
  template <class F>
  TY_HD void each_tap(std::int64_t i, const F& f) const {
    const double stretch = math::max(scale, 1.0), support = filter_support(filter) * stretch;
    const double center = begin + (static_cast<double>(i) + 0.5) * scale;
    const std::int64_t first =
        math::max<std::int64_t>(static_cast<std::int64_t>(center - support + 0.5), std::int64_t{0});
    const auto end = static_cast<std::int64_t>(center + support + 0.5);
    const std::int64_t last = end < count ? end : count;
    const auto value = [&](std::int64_t x) {
      return filter_value(filter, (static_cast<double>(x) - center + 0.5) * (1 / stretch));
    };
    double sum = 0;
    for (std::int64_t x = first; x < last; ++x) sum += value(x);
    for (std::int64_t x = first; x < last; ++x) {
      const double part = sum == 0 ? value(x) : value(x) / sum;
      const double scaled = part * (1 << kFractionBits);
      f(x, static_cast<std::int32_t>(part < 0 ? scaled - 0.5 : scaled + 0.5));
    }
  }
  /// The byte of a sum that began with kHalf.
  [[nodiscard]] TY_HD static std::int32_t byte_of(std::int32_t sum) {
    const std::int32_t whole = sum >> kFractionBits;
    return whole < 0 ? 0 : whole > 255 ? 255 : whole;
  }
};

}  // namespace trainyard

// A preprocessing step as plain data.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

inline constexpr std::int32_t kMostPixelSteps = 8;

/// The effect of a preprocessing step on the values of a sample.
struct PixelTransform {
  enum class Kind : std::uint8_t {
    scale,             // *= factor
    subtract_image,    // -= values[c, y, x]
    subtract_channel,  // -= values[c]
    divide_channel,    // /= values[c]
    subtract_mean,     // -= the sample's mean
    divide_deviation,  // /= the sample's standard deviation (of n) + 1e-7
  };
  Kind kind = Kind::scale;
  float factor = 1;
  const float* values = nullptr;
  std::int64_t count = 0;  // number of values

  /// True if it reads the whole sample.
  [[nodiscard]] TY_HD bool samplewise() const { return kind >= Kind::subtract_mean; }
  /// `element` is the index in [c, h, w]. Not of a samplewise one.
  [[nodiscard]] TY_HD float applied(float x, std::int64_t channel, std::int64_t element) const {
    if (kind == Kind::scale) return x * factor;
    if (kind == Kind::subtract_image) return x - values[element];
    return kind == Kind::subtract_channel ? x - values[channel] : x / values[channel];
  }
};

}  // namespace trainyard

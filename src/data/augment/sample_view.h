// A sample in float, as colours and preprocessing see it. One Team works on it.
#pragma once

#include <cstdint>

#include "base/math.h"
#include "data/augment/colour_math.h"

namespace trainyard {

/// A sample, [channels, plane] with plane = h * w.
struct SampleView {
  float* values;
  std::int64_t channels, plane;
  std::int32_t width;
  float* room = nullptr;  // [plane], then the table; of changes that need them

  static constexpr std::int64_t kTable = 256;
  /// Values that a room for planes of this size has.
  [[nodiscard]] TY_HD static std::int64_t room_of(std::int64_t plane) { return plane + kTable; }
  [[nodiscard]] TY_HD float* table() const { return room + plane; }

  /// One channel of it.
  [[nodiscard]] TY_HD SampleView channel(std::int64_t c) const {
    return {values + c * plane, 1, plane, width, room};
  }

  /// Calls f(value, channel) on every value, in place.
  template <class Team, class F>
  TY_HD void map(const Team& team, const F& f) const {
    for (std::int64_t c = 0; c < channels; ++c) {
      float* const of = values + c * plane;
      team.each(plane, [&](std::int64_t i) { of[i] = f(of[i], c); });
    }
  }
  /// Puts f(plane, pixel), which may read all of a channel's values, in the place of each value.
  template <class Team, class F>
  TY_HD void map_planes(const Team& team, const F& f) const {
    for (std::int64_t c = 0; c < channels; ++c) {
      float* const of = values + c * plane;
      team.each(plane, [&](std::int64_t i) { room[i] = f(of, i); });
      team.each(plane, [&](std::int64_t i) { of[i] = room[i]; });
    }
  }
  /// Calls f(Rgb) on every pixel of three channels, in place.
  template <class Team, class F>
  TY_HD void map_pixels(const Team& team, const F& f) const {
    float *const r = values, *const g = values + plane, *const b = values + 2 * plane;
    team.each(plane, [&](std::int64_t i) {
      const Rgb p = f(Rgb{r[i], g[i], b[i]});
      r[i] = p.r;
      g[i] = p.g;
      b[i] = p.b;
    });
  }
  [[nodiscard]] TY_HD Rgb pixel(std::int64_t i) const {
    return {values[i], values[plane + i], values[2 * plane + i]};
  }
  template <class Team>
  [[nodiscard]] TY_HD float largest(const Team& team) const {
    return team.template max<float>(channels * plane, -math::kInfinity<float>,
                                    [&](std::int64_t i) { return values[i]; });
  }
  template <class Team>
  [[nodiscard]] TY_HD float least(const Team& team) const {
    return -team.template max<float>(channels * plane, -math::kInfinity<float>,
                                     [&](std::int64_t i) { return -values[i]; });
  }
  /// In double.
  template <class Team>
  [[nodiscard]] TY_HD double mean(const Team& team) const {
    const std::int64_t count = channels * plane;
    const double sum = team.template sum<double>(
        count, [&](std::int64_t i) { return static_cast<double>(values[i]); });
    return sum / static_cast<double>(count);
  }
};

}  // namespace trainyard

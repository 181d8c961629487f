// The arithmetic of augmentation and preprocessing: functors over images [c, h, w] in float, for
// the CPU's loops and for a kernel.
#pragma once

#include <cstdint>

#include "data/spatial_step.h"

namespace trainyard {

/// One augmentation of one image. One team per row of `out`: channel * out_h + y.
struct SpatialRows {
  SpatialStep step;
  const float* in;
  float* out;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t channel = row / step.out_h;
    const std::int64_t y = row - channel * step.out_h;
    const float* const plane = in + channel * step.in_h * step.in_w;
    float* const to = out + row * step.out_w;
    if (step.interpolates) return interpolate(team, plane, y, to);
    if (step.warps) return warp(team, plane, y, to);
    const std::int64_t source = extended_index(step.row(y), step.in_h, step.fill);
    const float* const from = plane + (source < 0 ? 0 : source) * step.in_w;
    if (step.dx == 0 && step.in_w == step.out_w && source >= 0) return copy(team, from, to);
    team.each(step.out_w, [&](std::int64_t x) {
      const std::int64_t at = extended_index(step.column(x), step.in_w, step.fill);
      to[x] = source < 0 || at < 0 ? step.value : from[at];
    });
  }

 private:
  template <class Team>
  TY_HD void copy(const Team& team, const float* from, float* to) const {
    const std::int64_t last = step.out_w - 1;
    if (step.mirror_x) {
      team.each(step.out_w, [&](std::int64_t x) { to[x] = from[last - x]; });
    } else {
      team.each(step.out_w, [&](std::int64_t x) { to[x] = from[x]; });
    }
  }
  template <class Team>
  TY_HD void interpolate(const Team& team, const float* plane, std::int64_t y, float* to) const {
    const auto pixel = [&](std::int64_t at_y, std::int64_t at_x) {
      return plane[at_y * step.in_w + at_x];
    };
    team.each(step.out_w, [&](std::int64_t x) { to[x] = step.between(step.place(y, x), pixel); });
  }
  /// The nearest pixels.
  template <class Team>
  TY_HD void warp(const Team& team, const float* plane, std::int64_t y, float* to) const {
    team.each(step.out_w, [&](std::int64_t x) {
      const Place place = step.place(y, x);
      const std::int64_t at_y = extended_index(place.y, step.in_h, step.fill);
      const std::int64_t at_x = extended_index(place.x, step.in_w, step.fill);
      to[x] = at_y < 0 || at_x < 0 ? step.value : plane[at_y * step.in_w + at_x];
    });
  }
};

/// The effect of a preprocessing step on a value.
struct PixelStep {
  enum class Kind : std::uint8_t {
    scale,             // *= factor
    subtract_image,    // -= values[c, y, x]
    subtract_channel,  // -= values[c]
    divide_channel,    // /= values[c]
  };
  Kind kind = Kind::scale;
  float factor = 1;
  const float* values = nullptr;
  std::int64_t count = 0;  // of values

  /// `element` is the index in [c, h, w].
  [[nodiscard]] TY_HD float applied(float x, std::int64_t channel, std::int64_t element) const {
    if (kind == Kind::scale) return x * factor;
    if (kind == Kind::subtract_image) return x - values[element];
    return kind == Kind::subtract_channel ? x - values[channel] : x / values[channel];
  }
};

/// A preprocessing step in place. One team per channel.
struct PixelRows {
  PixelStep step;
  float* image;
  std::int64_t plane;  // h * w

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t channel) const {
    const std::int64_t first = channel * plane;
    float* const values = image + first;
    // One loop per kind, which the compiler vectorises.
    switch (step.kind) {
      case PixelStep::Kind::scale:
        return each<PixelStep::Kind::scale>(team, values, channel, first);
      case PixelStep::Kind::subtract_image:
        return each<PixelStep::Kind::subtract_image>(team, values, channel, first);
      case PixelStep::Kind::subtract_channel:
        return each<PixelStep::Kind::subtract_channel>(team, values, channel, first);
      case PixelStep::Kind::divide_channel:
        return each<PixelStep::Kind::divide_channel>(team, values, channel, first);
    }
  }

 private:
  template <PixelStep::Kind kKind, class Team>
  TY_HD void each(const Team& team, float* values, std::int64_t channel, std::int64_t first) const {
    const PixelStep known{kKind, step.factor, step.values, step.count};
    team.each(plane,
              [&](std::int64_t i) { values[i] = known.applied(values[i], channel, first + i); });
  }
};

}  // namespace trainyard

// An augmentation of an image [c, h, w] in float, for the CPU's loops and for a kernel.
#pragma once

#include <cstdint>

#include "data/augment/spatial_step.h"

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
      const SamplePoint place = step.place(y, x);
      const std::int64_t at_y = extended_index(place.y, step.in_h, step.fill);
      const std::int64_t at_x = extended_index(place.x, step.in_w, step.fill);
      to[x] = at_y < 0 || at_x < 0 ? step.value : plane[at_y * step.in_w + at_x];
    });
  }
};

}  // namespace trainyard

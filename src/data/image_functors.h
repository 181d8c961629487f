// The arithmetic of augmentation and preprocessing: the augmentations of one sample as plain data,
// and functors over images [c, h, w] in float, for the CPU's loops and for a kernel.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// How an image is extended beyond its edge (scipy.ndimage's names; OpenCV's differ).
enum class Fill : std::uint8_t {
  nearest,   // aaaa|abcd|dddd
  reflect,   // dcba|abcd|dcba: the edge is repeated
  wrap,      // abcd|abcd|abcd
  constant,  // kkkk|abcd|kkkk
};

/// The index in [0, n) for position `i` of the extended axis; -1 for the constant.
TY_HD std::int64_t extended_index(std::int64_t i, std::int64_t n, Fill fill) {
  if (i >= 0 && i < n) return i;
  if (fill == Fill::constant) return -1;
  if (fill == Fill::nearest) return i < 0 ? 0 : n - 1;
  const std::int64_t period = fill == Fill::wrap ? n : 2 * n;
  const std::int64_t rest = ((i % period) + period) % period;
  return rest < n ? rest : period - 1 - rest;
}

/// The effect of an augmentation on one sample: out(y, x) = in(row(y) + part_y, column(x) +
/// part_x), between whole pixels by linear interpolation of the extended image. The sizes of in and
/// out may differ (a crop of a padded image).
struct SpatialStep {
  std::int32_t in_h = 0, in_w = 0, out_h = 0, out_w = 0;
  std::int32_t dy = 0, dx = 0;   // whole pixels
  float part_y = 0, part_x = 0;  // in [0, 1)
  float value = 0;               // of Fill::constant
  Fill fill = Fill::nearest;
  bool mirror_y = false, mirror_x = false;
  bool interpolates = false;  // else the parts are 0

  [[nodiscard]] TY_HD std::int64_t row(std::int64_t y) const {
    return (mirror_y ? out_h - 1 - y : y) + dy;
  }
  [[nodiscard]] TY_HD std::int64_t column(std::int64_t x) const {
    return (mirror_x ? out_w - 1 - x : x) + dx;
  }
  /// Interpolates four pixels around a point: along x first, then along y, each a + part * (b - a).
  [[nodiscard]] TY_HD float between(float upper_left, float upper_right, float lower_left,
                                    float lower_right) const {
    const float above = upper_left + part_x * (upper_right - upper_left);
    const float below = lower_left + part_x * (lower_right - lower_left);
    return above + part_y * (below - above);
  }
};

/// One augmentation of one image. One team per row of `out`: channel * out_h + y.
struct SpatialRows {
  SpatialStep step;
  const float* in;
  float* out;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t channel = row / step.out_h;
    const std::int64_t y = step.row(row - channel * step.out_h);
    const float* const plane = in + channel * step.in_h * step.in_w;
    float* const to = out + row * step.out_w;
    if (step.interpolates) return interpolate(team, plane, y, to);
    const std::int64_t source = extended_index(y, step.in_h, step.fill);
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
    const std::int64_t top = extended_index(y, step.in_h, step.fill);
    const std::int64_t bottom = extended_index(y + 1, step.in_h, step.fill);
    const auto pixel = [&](std::int64_t at_y, std::int64_t at_x) {
      return at_y < 0 || at_x < 0 ? step.value : plane[at_y * step.in_w + at_x];
    };
    team.each(step.out_w, [&](std::int64_t x) {
      const std::int64_t left = extended_index(step.column(x), step.in_w, step.fill);
      const std::int64_t right = extended_index(step.column(x) + 1, step.in_w, step.fill);
      to[x] = step.between(pixel(top, left), pixel(top, right), pixel(bottom, left),
                           pixel(bottom, right));
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

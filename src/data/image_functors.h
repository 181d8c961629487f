// The arithmetic of augmentation and preprocessing: functors over the rows of one image [c, h, w]
// in float, for the CPU's loops and for a kernel. A row is (channel * height + y).
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// What lies beyond the edge of an image (scipy.ndimage's names; OpenCV's differ).
enum class Fill : std::uint8_t {
  nearest,   // aaaa|abcd|dddd
  reflect,   // dcba|abcd|dcba: the edge is repeated
  wrap,      // abcd|abcd|abcd
  constant,  // kkkk|abcd|kkkk
};

/// The index in [0, n) that stands at `i` of the extended axis; -1 where the constant stands.
TY_HD std::int64_t extended_index(std::int64_t i, std::int64_t n, Fill fill) {
  if (i >= 0 && i < n) return i;
  if (fill == Fill::constant) return -1;
  if (fill == Fill::nearest) return i < 0 ? 0 : n - 1;
  const std::int64_t period = fill == Fill::wrap ? n : 2 * n;
  const std::int64_t rest = ((i % period) + period) % period;
  return rest < n ? rest : period - 1 - rest;
}

/// out(y, x) = in(y + dy, x + dx), whole pixels; the sizes may differ (a crop of a padded image).
/// One team a row of `out`.
struct TranslateRows {
  const float* in;
  float* out;
  std::int64_t in_h, in_w, out_h, out_w;
  std::int64_t dy, dx;
  Fill fill;
  float value;  // of Fill::constant

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t channel = row / out_h;
    const std::int64_t y = extended_index(row - channel * out_h + dy, in_h, fill);
    const float* from = in + (channel * in_h + (y < 0 ? 0 : y)) * in_w;
    float* to = out + row * out_w;
    team.each(out_w, [&](std::int64_t x) {
      const std::int64_t source = extended_index(x + dx, in_w, fill);
      to[x] = y < 0 || source < 0 ? value : from[source];
    });
  }
};

/// out(y, x) = in(y + dy + part_y, x + dx + part_x) by linear interpolation between the four pixels
/// of the extended image, parts in [0, 1): along x first, then along y, each a + part * (b - a).
struct BilinearRows {
  const float* in;
  float* out;
  std::int64_t h, w;
  std::int64_t dy, dx;
  float part_y, part_x;
  Fill fill;
  float value;

  TY_HD float along_x(const float* from, bool inside, std::int64_t left, std::int64_t right) const {
    const float a = inside && left >= 0 ? from[left] : value;
    const float b = inside && right >= 0 ? from[right] : value;
    return a + part_x * (b - a);
  }

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t channel = row / h;
    const std::int64_t y = row - channel * h + dy;
    const std::int64_t top = extended_index(y, h, fill);
    const std::int64_t bottom = extended_index(y + 1, h, fill);
    const float* upper = in + (channel * h + (top < 0 ? 0 : top)) * w;
    const float* lower = in + (channel * h + (bottom < 0 ? 0 : bottom)) * w;
    float* to = out + row * w;
    team.each(w, [&](std::int64_t x) {
      const std::int64_t left = extended_index(x + dx, w, fill);
      const std::int64_t right = extended_index(x + dx + 1, w, fill);
      const float above = along_x(upper, top >= 0, left, right);
      const float below = along_x(lower, bottom >= 0, left, right);
      to[x] = above + part_y * (below - above);
    });
  }
};

/// Mirrors columns, rows or both.
struct FlipRows {
  const float* in;
  float* out;
  std::int64_t h, w;
  bool columns, rows;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t channel = row / h;
    const std::int64_t y = row - channel * h;
    const float* from = in + (channel * h + (rows ? h - 1 - y : y)) * w;
    float* to = out + row * w;
    if (columns) {
      team.each(w, [&](std::int64_t x) { to[x] = from[w - 1 - x]; });
    } else {
      team.each(w, [&](std::int64_t x) { to[x] = from[x]; });
    }
  }
};

/// image *= factor. One call an element, as the next two.
struct ScaleEach {
  float* image;
  float factor;
  TY_HD void operator()(std::int64_t i) const { image[i] *= factor; }
};

/// image -= mean, both [c, h, w].
struct SubtractEach {
  float* image;
  const float* mean;
  TY_HD void operator()(std::int64_t i) const { image[i] -= mean[i]; }
};

/// image = (image - mean[c]) / deviation[c]; either may be null. One team a channel.
struct ChannelAffineRows {
  float* image;
  const float* mean;
  const float* deviation;
  std::int64_t plane;  // h * w

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t channel) const {
    float* values = image + channel * plane;
    const float shift = mean != nullptr ? mean[channel] : 0.0f;
    const float divisor = deviation != nullptr ? deviation[channel] : 1.0f;
    team.each(plane, [&](std::int64_t i) { values[i] = (values[i] - shift) / divisor; });
  }
};

}  // namespace trainyard

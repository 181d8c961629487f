// What an augmentation does to where the pixels of a sample are, as plain data.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "data/augment/sample_view.h"
#include "data/images/resize_taps.h"

namespace trainyard {

/// How an image is extended beyond its edge (scipy.ndimage's names; those of OpenCV and PyTorch
/// differ).
enum class Fill : std::uint8_t {
  nearest,   // aaaa|abcd|dddd
  reflect,   // dcba|abcd|dcba: the edge is repeated
  wrap,      // abcd|abcd|abcd
  constant,  // kkkk|abcd|kkkk
  mirror,    // .dcb|abcd|cba.: the edge is not repeated (PyTorch's `reflect`)
};

/// The index in [0, n) for position `i` of the extended axis; -1 for the constant.
TY_HD std::int64_t extended_index(std::int64_t i, std::int64_t n, Fill fill) {
  if (i >= 0 && i < n) return i;
  if (fill == Fill::constant) return -1;
  if (fill == Fill::nearest || n == 1) return i < 0 ? 0 : n - 1;
  const std::int64_t repeated = fill == Fill::mirror ? 0 : 1;  // edges in a period
  const std::int64_t period = fill == Fill::wrap ? n : 2 * n - 2 + 2 * repeated;
  const std::int64_t rest = ((i % period) + period) % period;
  return rest < n ? rest : period - repeated - rest;
}

/// A map of the plane, in pixels: (y, x) to (yy * y + yx * x + y0, xy * y + xx * x + x0).
struct Affine {
  double yy = 1, yx = 0, y0 = 0;
  double xy = 0, xx = 1, x0 = 0;
  bool operator==(const Affine&) const = default;
};

/// A point of an image: a whole pixel, and how far from there to the next ones, in [0, 1).
struct SamplePoint {
  std::int64_t y, x;
  float part_y, part_x;
};

/// The effect of an augmentation on one sample: out(y, x) = in(place(y, x)), between whole pixels
/// by linear interpolation of the extended image. A place is (row(y) + part_y, column(x) + part_x),
/// or, of a warp, map(y, x). The sizes of in and out may differ (a crop of a padded image). Or out
/// is a window of in, of bytes, resized with a filter as Pillow does it.
struct SpatialTransform {
  std::int32_t in_h = 0, in_w = 0, out_h = 0, out_w = 0;
  std::int32_t dy = 0, dx = 0;   // whole pixels
  float part_y = 0, part_x = 0;  // in [0, 1)
  float value = 0;               // value of Fill::constant
  Fill fill = Fill::nearest;
  bool mirror_y = false, mirror_x = false;
  bool interpolates = false;  // else a place is a whole pixel: the nearest one, of a warp
  bool warps = false;         // places are those of `map`; else of the members before it
  bool resizes = false;       // `down` and `along` are of the window whose corner is (dy, dx)
  Affine map;
  ResizeAxis down, along;

  [[nodiscard]] TY_HD std::int64_t row(std::int64_t y) const {
    return (mirror_y ? out_h - 1 - y : y) + dy;
  }
  [[nodiscard]] TY_HD std::int64_t column(std::int64_t x) const {
    return (mirror_x ? out_w - 1 - x : x) + dx;
  }
  [[nodiscard]] TY_HD SamplePoint place(std::int64_t y, std::int64_t x) const {
    if (!warps) return {row(y), column(x), part_y, part_x};
    // In double and in the order of scipy.ndimage.affine_transform, so that they round alike.
    const double half = interpolates ? 0.0 : 0.5;
    const auto at = [&](double by_y, double by_x, double offset) {
      return static_cast<double>(y) * by_y + static_cast<double>(x) * by_x + offset;
    };
    const double at_y = at(map.yy, map.yx, map.y0), at_x = at(map.xy, map.xx, map.x0);
    const double whole_y = __builtin_floor(at_y + half), whole_x = __builtin_floor(at_x + half);
    const auto part = [&](double value_at, double whole) {
      return interpolates ? static_cast<float>(value_at - whole) : 0.0f;
    };
    return {static_cast<std::int64_t>(whole_y), static_cast<std::int64_t>(whole_x),
            part(at_y, whole_y), part(at_x, whole_x)};
  }
  /// The value at a place of the extended image whose pixels are pixel(y, x): interpolated along x
  /// first, then along y, each a + part * (b - a).
  template <class Pixel>
  [[nodiscard]] TY_HD float between(const SamplePoint& place, const Pixel& pixel) const {
    const std::int64_t top = extended_index(place.y, in_h, fill);
    const std::int64_t bottom = extended_index(place.y + 1, in_h, fill);
    const std::int64_t left = extended_index(place.x, in_w, fill);
    const std::int64_t right = extended_index(place.x + 1, in_w, fill);
    const auto known = [&](std::int64_t y, std::int64_t x) {
      return y < 0 || x < 0 ? value : pixel(y, x);
    };
    const auto along_x = [&](std::int64_t y) {
      const float first = known(y, left);
      return first + place.part_x * (known(y, right) - first);
    };
    const float above = along_x(top), below = along_x(bottom);
    return above + place.part_y * (below - above);
  }
  /// The value at (y, x) of a resized window of the image whose pixels are pixel(y, x): summed
  /// along x first, then along y, each sum rounded to a byte.
  template <class Pixel>
  [[nodiscard]] TY_HD float filtered(std::int64_t y, std::int64_t x, const Pixel& pixel) const {
    std::int32_t sum = ResizeAxis::kHalf;
    down.each_tap(y, [&](std::int64_t at_y, std::int32_t weight) {
      std::int32_t row_sum = ResizeAxis::kHalf;
      along.each_tap(x, [&](std::int64_t at_x, std::int32_t factor) {
        row_sum += factor * static_cast<std::int32_t>(as_byte(pixel(dy + at_y, dx + at_x)));
      });
      sum += weight * ResizeAxis::byte_of(row_sum);
    });
    return static_cast<float>(ResizeAxis::byte_of(sum));
  }
};

/// One augmentation of one image. One team per row of `out`: channel * out_h + y.
struct SpatialRows {
  SpatialTransform step;
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

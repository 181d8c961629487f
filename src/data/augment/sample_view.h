// A sample in float, as colours and preprocessing see it. One Team works on it.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "base/math.h"

namespace trainyard {

// Colours of pixels: OpenCV's 8-bit hue, lightness and saturation; torchvision's grey and hue.

/// Red, green and blue, 0..255.
struct Rgb {
  float r, g, b;
};

TY_HD float limited(float x, float least, float most) {
  return x < least ? least : x > most ? most : x;
}
/// The nearest of 0..255, halves to even.
TY_HD float as_byte(float x) {
  // Adding 1.5 * 2^23 leaves a whole number.
  return limited((x + 12582912.0f) - 12582912.0f, 0.0f, 255.0f);
}
TY_HD float largest_of(const Rgb& p) {
  const float two = p.r > p.g ? p.r : p.g;
  return two > p.b ? two : p.b;
}
TY_HD float least_of(const Rgb& p) {
  const float two = p.r < p.g ? p.r : p.g;
  return two < p.b ? two : p.b;
}

/// One of four values.
TY_HD float one_of(const float (&values)[4], std::int32_t which) {
  const float low = which == 0 ? values[0] : values[1];
  const float high = which == 2 ? values[2] : values[3];
  return which < 2 ? low : high;
}
/// The colour of sector 0..5 of the hue circle, of the four values that it is made of: each digit
/// of a channel's number, the last first, is the value's index for a sector.
TY_HD Rgb of_sector(const float (&values)[4], std::int32_t sector, std::uint32_t r, std::uint32_t g,
                    std::uint32_t b) {
  const auto digit = [&](std::uint32_t digits) {
    return static_cast<std::int32_t>(digits >> (4 * sector) & 15u);
  };
  return {one_of(values, digit(r)), one_of(values, digit(g)), one_of(values, digit(b))};
}

/// A pixel of bytes with `h`, `l` and `s` added in OpenCV's 8-bit HLS (hue in 0..180), limited to
/// (180, 255, 255): cvtColor to HLS and back (opencv 3.4, modules/imgproc/src/color_hsv.cpp,
/// RGB2HLS_b, HLS2RGB_b, without vectors) as mxnet 0.9.5 uses it (src/io/image_aug_default.cc).
TY_HD Rgb with_hls_added(const Rgb& bytes, float h, float l, float s) {
  constexpr float kByte = 1.0f / 255.0f;
  const Rgb p{bytes.r * kByte, bytes.g * kByte, bytes.b * kByte};
  const float most = largest_of(p), least = least_of(p);
  const float range = most - least, both = most + least;
  const float lightness = both * 0.5f;
  const bool coloured = range > 1.1920929e-7f;
  const float saturation =
      coloured ? range / (lightness < 0.5f ? both : 2.0f - most - least) : 0.0f;
  const float degrees = coloured ? 60.0f / range : 0.0f;
  float hue = most == p.r   ? (p.g - p.b) * degrees
              : most == p.g ? (p.b - p.r) * degrees + 120.0f
                            : (p.r - p.g) * degrees + 240.0f;
  hue = hue < 0.0f ? hue + 360.0f : hue;
  const float new_h = limited(as_byte(coloured ? hue * 0.5f : 0.0f) + h, 0.0f, 180.0f);
  const float new_l = limited(as_byte(lightness * 255.0f) + l, 0.0f, 255.0f) * kByte;
  const float new_s = limited(as_byte(saturation * 255.0f) + s, 0.0f, 255.0f) * kByte;
  const float p2 = new_l <= 0.5f ? new_l * (1.0f + new_s) : new_l + new_s - new_l * new_s;
  const float p1 = 2.0f * new_l - p2;
  const float turned = new_h * (6.0f / 180.0f);
  const float place = turned >= 6.0f ? turned - 6.0f : turned;
  const auto sector = static_cast<std::int32_t>(place);
  const float part = place - static_cast<float>(sector);
  const float values[4] = {p2, p1, p1 + (p2 - p1) * (1.0f - part), p1 + (p2 - p1) * part};
  const Rgb out = of_sector(values, sector, 0x031120u, 0x112003u, 0x200311u);
  const bool grey = new_s == 0.0f;
  return {as_byte((grey ? new_l : out.r) * 255.0f), as_byte((grey ? new_l : out.g) * 255.0f),
          as_byte((grey ? new_l : out.b) * 255.0f)};
}

/// torchvision's rgb_to_grayscale.
TY_HD float grey_of(const Rgb& p) { return 0.2989f * p.r + 0.587f * p.g + 0.114f * p.b; }

/// A pixel whose hue is turned by `part` of a circle: torchvision 0.14's adjust_hue
/// (transforms/functional_tensor.py, _rgb2hsv, _hsv2rgb).
TY_HD Rgb with_hue_turned(const Rgb& p, float part) {
  const float most = largest_of(p), least = least_of(p);
  const float range = most == least ? 1.0f : most - least;
  const float saturation = most == least ? 0.0f : range / most;
  const float rc = (most - p.r) / range, gc = (most - p.g) / range, bc = (most - p.b) / range;
  const float sixths = most == p.r ? bc - gc : most == p.g ? 2.0f + rc - bc : 4.0f + gc - rc;
  const auto whole_part = [](float x) { return __builtin_floorf(x); };
  float hue = sixths / 6.0f + 1.0f;
  hue = hue - whole_part(hue) + part;
  hue -= whole_part(hue);
  const float place = hue * 6.0f, whole = whole_part(place), rest = place - whole;
  const auto sector = static_cast<std::int32_t>(whole) % 6;
  const float values[4] = {limited(most * (1.0f - saturation), 0.0f, 255.0f),
                           limited(most * (1.0f - saturation * rest), 0.0f, 255.0f),
                           limited(most * (1.0f - saturation * (1.0f - rest)), 0.0f, 255.0f), most};
  // p, q, t, v of sectors 0 to 5: red v q p p t v, green t v v q p p, blue p p t v v q.
  return of_sector(values, sector, 0x320013u, 0x001332u, 0x133200u);
}

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

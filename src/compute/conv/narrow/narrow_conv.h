// Convolutions of 16 channels to 16 with a 3x3 kernel, as the first layers of a residual network
// for small images have them. A library's tiles for tensor cores are 64 or more channels wide and
// do three quarters of their work for nothing: for 128 images of 32x32 cuDNN 9.14 takes 22 us on
// an H100, whose memory moves them in 3. This kernel, when it still divided in each strip, took 11,
// and 14 to 16 for the gradient, when it still read the weights across.
//
// Here all weights are in the registers of a warp. It multiplies strips of 16 pixels, tap by tap,
// which it reads from memory as they lie there: the order of the 16 channels within a product does
// not matter, so a lane takes four that lie beside each other.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "launcher/pack.h"
#include "launcher/team.h"

namespace trainyard {

inline constexpr int kNarrowChannels = 16;
inline constexpr int kNarrowTaps = 9;
/// Pixels of a product, products of a warp, warps of a team.
inline constexpr int kNarrowStrip = 16, kNarrowStrips = 4, kNarrowWarps = kTeamLanes / 32;
/// Pixels of a row of the launch.
inline constexpr std::int64_t kNarrowPixels = kNarrowStrip * kNarrowStrips * kNarrowWarps;

/// Maps [n, height, width, 16].
template <class T>
struct NarrowMaps {
  std::uint32_t height, width, pixels;  // pixels of all images
  const T* from;
  // [16, 3, 3, 16]: filters, taps, channels; for a gradient turned (WeightShape): channels, taps
  // from the last one on, filters.
  const T* weight;
  T* to;
};

/// The output of the convolution (stride 1, padding 1) or, with kToInput, the gradient of its
/// input; with kAdds that is added to what is there, rounded once.
template <class T, bool kToInput, bool kAdds>
struct NarrowConv {
  NarrowMaps<T> maps;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    if constexpr (Team::kSerial) {
      const std::int64_t first = row * kNarrowPixels, end = first + kNarrowPixels;
      for (std::int64_t pixel = first; pixel < end && pixel < maps.pixels; ++pixel) {
        for (int c = 0; c < kNarrowChannels; ++c) {
          store(static_cast<std::uint32_t>(pixel), c,
                sum_in_order(static_cast<std::uint32_t>(pixel), c));
        }
      }
    } else {
      team.each(kTeamLanes, [&](std::int64_t i) {
        const auto warp = static_cast<std::uint32_t>(row * kNarrowWarps + i / 32);
        multiply_strips(team, warp, static_cast<int>(i % 32));
      });
    }
  }

 private:
  /// Four channels of a pixel, or of a tap of a filter, two in 32 bits.
  struct alignas(8) Four {
    std::uint32_t low, high;
  };
  struct Position {
    std::uint32_t pixel, y, x;
  };

  [[nodiscard]] TY_HD Position position_of(std::uint32_t pixel) const {
    const std::uint32_t line = pixel / maps.width;
    return {pixel, line % maps.height, pixel - line * maps.width};
  }
  /// The place `pixels` further on; cheaper than a division.
  [[nodiscard]] TY_HD Position moved(Position place, std::uint32_t pixels) const {
    place.pixel += pixels;
    place.x += pixels;
    while (place.x >= maps.width) {
      place.x -= maps.width;
      place.y = place.y + 1 == maps.height ? 0 : place.y + 1;
    }
    return place;
  }
  /// Whether tap `tap` of a window at `place` is inside its image.
  [[nodiscard]] TY_HD bool inside(const Position& place, int tap) const {
    const int down = tap / 3 - 1, right = tap % 3 - 1;
    return place.pixel < maps.pixels && (down >= 0 || place.y > 0) &&
           (down <= 0 || place.y + 1 < maps.height) && (right >= 0 || place.x > 0) &&
           (right <= 0 || place.x + 1 < maps.width);
  }
  [[nodiscard]] TY_HD const T* under(const Position& place, int tap) const {
    const auto line = static_cast<std::int64_t>(maps.width) * kNarrowChannels;
    return maps.from + static_cast<std::int64_t>(place.pixel) * kNarrowChannels +
           (tap / 3 - 1) * line + (tap % 3 - 1) * kNarrowChannels;
  }
  TY_HD void store(std::uint32_t pixel, int c, float sum) const {
    T* const to = maps.to + static_cast<std::int64_t>(pixel) * kNarrowChannels + c;
    *to = static_cast<T>(kAdds ? static_cast<float>(*to) + sum : sum);
  }

  /// The weight between channel `from` of the map that is read, under tap `tap`, and channel `to`.
  [[nodiscard]] TY_HD T weight(int to, int tap, int from) const {
    return maps.weight[(to * kNarrowTaps + tap) * kNarrowChannels + from];
  }
  [[nodiscard]] TY_HD Four weights(int to, int tap, int from) const {
    return *reinterpret_cast<const Four*>(maps.weight + (to * kNarrowTaps + tap) * kNarrowChannels +
                                          from);
  }

  template <class Team>
  TY_HD void multiply_strips(const Team& team, std::uint32_t warp, int lane) const {
    Four factors[kNarrowTaps][2];
    TY_UNROLL
    for (int tap = 0; tap < kNarrowTaps; ++tap) {
      TY_UNROLL
      for (int half = 0; half < 2; ++half) {
        factors[tap][half] = weights(column(lane / 4, half), tap, lane % 4 * 4);
      }
    }
    const std::uint32_t first = warp * kNarrowStrips * kNarrowStrip;
    Position place = position_of(first + lane / 4);
    for (std::uint32_t strip = 0; strip < kNarrowStrips; ++strip) {
      if (first + strip * kNarrowStrip < maps.pixels) multiply_strip(team, place, lane, factors);
      place = moved(place, kNarrowStrip);
    }
  }
  /// The channel that is column `n` of product `half`, so that a lane's sums lie beside each other.
  static TY_HD int column(int n, int half) { return n / 2 * 4 + half * 2 + n % 2; }

  /// `first` is the lane's first pixel of the strip.
  template <class Team>
  TY_HD void multiply_strip(const Team& team, const Position& first, int lane,
                            const Four (&factors)[kNarrowTaps][2]) const {
    const Position places[2] = {first, moved(first, kNarrowStrip / 2)};
    Four read[kNarrowTaps][2];
    TY_UNROLL
    for (int tap = 0; tap < kNarrowTaps; ++tap) {
      TY_UNROLL
      for (int i = 0; i < 2; ++i) {
        read[tap][i] = inside(places[i], tap)
                           ? *reinterpret_cast<const Four*>(under(places[i], tap) + lane % 4 * 4)
                           : Four{0, 0};
      }
    }
    float sums[2][4] = {};
    TY_UNROLL
    for (int tap = 0; tap < kNarrowTaps; ++tap) {
      const std::uint32_t a[4] = {read[tap][0].low, read[tap][1].low, read[tap][0].high,
                                  read[tap][1].high};
      TY_UNROLL
      for (int half = 0; half < 2; ++half) {
        const std::uint32_t b[2] = {factors[tap][half].low, factors[tap][half].high};
        team.template multiply_add<T>(sums[half], a, b);
      }
    }
    TY_UNROLL
    for (int i = 0; i < 2; ++i) store_four(places[i], lane % 4 * 4, i * 2, sums);
  }
  /// Channels c to c + 3 of a pixel: sums `first` and the next of both products.
  TY_HD void store_four(const Position& place, int c, int first, const float (&sums)[2][4]) const {
    if (place.pixel >= maps.pixels) return;
    T* const to = maps.to + static_cast<std::int64_t>(place.pixel) * kNarrowChannels + c;
    Pack<T, 4> pack;
    if (kAdds) pack = load_pack<T, 4>(to);
    TY_UNROLL
    for (int k = 0; k < 4; ++k) {
      const float sum = sums[k / 2][first + k % 2];
      pack.value[k] = static_cast<T>(kAdds ? static_cast<float>(pack.value[k]) + sum : sum);
    }
    store_pack<T, 4>(to, pack);
  }

  /// On a processor: the sum in the reference device's order. Forward channel by channel and tap by
  /// tap; the gradient's taps in the order of the kernel, the filters of each first.
  [[nodiscard]] TY_HD float sum_in_order(std::uint32_t pixel, int c) const {
    const Position place = position_of(pixel);
    float sum = 0;
    if (kToInput) {
      for (int tap = kNarrowTaps - 1; tap >= 0; --tap) {
        if (!inside(place, tap)) continue;
        float part = 0;
        for (int f = 0; f < kNarrowChannels; ++f) part += term(place, tap, c, f);
        sum += part;
      }
    } else {
      for (int from = 0; from < kNarrowChannels; ++from) {
        for (int tap = 0; tap < kNarrowTaps; ++tap) {
          if (inside(place, tap)) sum += term(place, tap, c, from);
        }
      }
    }
    return sum;
  }
  [[nodiscard]] TY_HD float term(const Position& place, int tap, int to, int from) const {
    return static_cast<float>(under(place, tap)[from]) * static_cast<float>(weight(to, tap, from));
  }
};

}  // namespace trainyard

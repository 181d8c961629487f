// What an augmentation does to the colours of a sample, as plain data.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

inline constexpr int kMostColourChannels = 4;

/// One change of the colours of a sample, of values 0..255.
struct ColourStep {
  enum class Kind : std::uint8_t {
    none,
    shift_channels,  // += amount[c], limited to the sample's least and largest value
    stretch,     // stretched to 0..255 and rounded down, *= amount[0], rounded down, at most 255
    shift_hls,   // 8-bit hue, lightness and saturation += amount[0..2]
    brightness,  // *= amount[0]
    contrast,    // amount[0] times the distance from the sample's mean grey
    saturation,  // amount[0] times the distance from the pixel's grey
    hue,         // turned by amount[0] of a circle
    erase,       // rows box[0]..box[1] - 1, columns box[2]..box[3] - 1 are amount_of(c)
    erase_randomly,  // these are whole numbers of 0..255, functions of seed, pixel and channel
  };
  Kind kind = Kind::none;
  float amount[kMostColourChannels] = {};
  std::int32_t box[4] = {};
  std::uint64_t seed = 0;

  /// Channels beyond the last have its amount.
  [[nodiscard]] TY_HD float amount_of(std::int64_t channel) const {
    return amount[channel < kMostColourChannels ? channel : kMostColourChannels - 1];
  }
};

}  // namespace trainyard

// What an augmentation does to the colours of a sample, as plain data. Changes that move pixels
// among such changes (policies.h) are here too.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/host_device.h"

namespace trainyard {

inline constexpr int kMostColourChannels = 4;

/// The number by which a colour step names its change: FNV-1a of the change's name.
[[nodiscard]] constexpr std::uint32_t change_number(std::string_view name) {
  std::uint32_t number = 2166136261u;
  for (const char letter : name) number = (number ^ static_cast<std::uint8_t>(letter)) * 16777619u;
  return number;
}

/// One change of the colours of a sample, of values 0..255. A change is a struct with kNumber and
/// apply(team, step, SampleView), see augmentations.h.
struct ColourTransform {
  std::uint32_t change = 0;  // its kNumber; 0: none
  float amount[kMostColourChannels] = {};
  std::int32_t box[4] = {};
  std::uint64_t seed = 0;
  std::int64_t map[6] = {};  // matrix of MovePixels

  /// Channels beyond the last have its amount.
  [[nodiscard]] TY_HD float amount_of(std::int64_t channel) const {
    return amount[channel < kMostColourChannels ? channel : kMostColourChannels - 1];
  }
};

}  // namespace trainyard

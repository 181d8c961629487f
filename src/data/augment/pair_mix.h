// What mixing does to a pair of samples, as plain data.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// How each sample of a pair takes from the other; the same for both.
struct PairMix {
  enum class Kind : std::int32_t {
    none,   // nothing
    blend,  // share * own + (1 - share) * other
    paste,  // rows box[0]..box[1] - 1 and columns box[2]..box[3] - 1 are the other's
  };
  Kind kind = Kind::none;
  float share = 1;           // of a sample's own target in its target, in [0, 1]
  std::int32_t box[4] = {};  // of a paste

  /// The value at row y and column x of a channel: `own` and `other` are the two samples' there.
  [[nodiscard]] TY_HD float mixed(float own, float other, std::int64_t y, std::int64_t x) const {
    if (kind == Kind::blend) return share * own + (1.0f - share) * other;
    const bool inside = y >= box[0] && y < box[1] && x >= box[2] && x < box[3];
    return kind == Kind::paste && inside ? other : own;
  }
};

}  // namespace trainyard

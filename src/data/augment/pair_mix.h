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
  float share = 1;           // share of a sample's own target in its target, in [0, 1]
  std::int32_t box[4] = {};  // box of a paste

  /// The part of a sample's own value at row y and column x in its value there: in [0, 1].
  [[nodiscard]] TY_HD float own_part(std::int64_t y, std::int64_t x) const {
    if (kind == Kind::blend) return share;
    const bool inside = y >= box[0] && y < box[1] && x >= box[2] && x < box[3];
    return kind == Kind::paste && inside ? 0.0f : 1.0f;
  }
};

/// part * own + (1 - part) * other; one of them as it is if the other's part is 0.
[[nodiscard]] TY_HD float mixed_value(float part, float own, float other) {
  if (part == 1.0f) return own;
  return part == 0.0f ? other : part * own + (1.0f - part) * other;
}

}  // namespace trainyard

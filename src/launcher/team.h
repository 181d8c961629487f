// Definitions shared by the Teams of all launchers.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "launcher/pack.h"

namespace trainyard {

/// Lanes of a Team: partial sums are strided by it, then added pairwise in a tree.
inline constexpr std::int64_t kTeamLanes = 128;

/// Calls add(i, load(i)) for i in [0, n) from `lane` on, every kTeamLanes-th in order; a GPU's lane
/// with 8 loads in flight.
template <class Load, class Add>
TY_HD void add_of_lane(std::int64_t lane, std::int64_t n, const Load& load, const Add& add) {
  const auto at = [=](std::int64_t turn) { return lane + turn * kTeamLanes; };
  add_staged<8>(
      0, (n - lane + kTeamLanes - 1) / kTeamLanes,
      [&](std::int64_t turn) { return load(at(turn)); },
      [&](std::int64_t turn, const auto& value) { add(at(turn), value); });
}

/// b if it is larger or NaN; a NaN in `a` stays, since nothing is larger.
template <class T>
TY_HD T larger(T a, T b) {
  return b > a || b != b ? b : a;
}

}  // namespace trainyard

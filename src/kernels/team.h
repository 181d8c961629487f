// Definitions shared by the Teams of all launchers.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// Lanes of a Team: partial sums are strided by it, then added pairwise in a tree.
inline constexpr std::int64_t kTeamLanes = 128;

/// b if it is larger or NaN; a NaN in `a` stays, since nothing is larger.
template <class T>
TY_HD T larger(T a, T b) {
  return b > a || b != b ? b : a;
}

}  // namespace trainyard

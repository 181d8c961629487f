// Two functors in one launch.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// The rows or calls of `first`, of which there are `count`, then those of `second`; neither may
/// read what the other writes. In finished_rows() the end is the first's.
template <class First, class Second>
struct InTurn {
  First first;
  std::int64_t count;
  Second second;

  TY_HD void operator()(std::int64_t i) const { i < count ? first(i) : second(i - count); }
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    row < count ? first(team, row) : second(team, row - count);
  }
  template <class Team>
  TY_HD void finish(const Team& team) const {
    first.finish(team);
  }
};

}  // namespace trainyard

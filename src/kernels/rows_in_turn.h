// Two functors of rows in one launch.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// The rows of `first`, of which there are `rows`, then those of `second`; neither may read what
/// the other writes.
template <class First, class Second>
struct RowsInTurn {
  First first;
  std::int64_t rows;
  Second second;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    row < rows ? first(team, row) : second(team, row - rows);
  }
};

}  // namespace trainyard

// The ranks with which a rank exchanges small values.
#pragma once

#include <algorithm>
#include <vector>

namespace trainyard {

/// The ranks 1, 2, 4, ... after and before `rank` on the circle of `ranks`, in ascending order: at
/// most 2 log2(ranks). A broadcast along a binary tree from any root and a gathering of all values
/// in log2(ranks) rounds (Bruck et al., 1997) use no other connections.
[[nodiscard]] inline std::vector<int> neighbours_of(int rank, int ranks) {
  std::vector<int> all;
  for (int step = 1; step < ranks; step *= 2) {
    all.push_back((rank + step) % ranks);
    all.push_back((rank + ranks - step) % ranks);
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

}  // namespace trainyard

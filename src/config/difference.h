// Where two trees say different things.
#pragma once

#include <string>
#include <vector>

#include "config/node.h"

namespace trainyard::config {

/// One value that is not the same in both; "" where a tree does not have it.
struct Difference {
  std::string key;     // "optimizer.sgd.lr", "augment[0].hflip"
  std::string before;  // on one line
  std::string after;
};

/// What differs between two trees, in the order of `before`, then what `after` alone has. Lists of
/// different length differ as a whole.
[[nodiscard]] std::vector<Difference> differences(const Node& before, const Node& after);

/// "optimizer.sgd.lr: 0.05 -> 0.001"; long values are cut.
[[nodiscard]] std::string text_of(const Difference& difference);

}  // namespace trainyard::config

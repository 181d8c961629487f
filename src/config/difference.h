// Differences between two trees.
#pragma once

#include <string>
#include <vector>

#include "config/node.h"

namespace trainyard::config {

/// A value that differs; "" if a tree does not have it.
struct Difference {
  std::string key;     // "optimizer.sgd.lr", "augment[0].hflip"
  std::string before;  // as one line
  std::string after;
};

/// The differences in the order of `before`, then the values only in `after`. Lists of different
/// length differ as a whole.
[[nodiscard]] std::vector<Difference> differences(const Node& before, const Node& after);

/// "optimizer.sgd.lr: 0.05 -> 0.001"; long values are truncated.
[[nodiscard]] std::string text_of(const Difference& difference);

}  // namespace trainyard::config

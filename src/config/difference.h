// Differences between trees.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace trainyard::config {

/// A value that differs; "" if a tree does not have it.
struct Difference {
  std::string key;     // "optimizer.sgd.lr", "augment[0].hflip"
  std::string before;  // as one line
  std::string after;
};

/// The value under a key of maps ("optimizer.sgd.lr") as one line; "" if the tree does not have it.
[[nodiscard]] std::string value_at(const Node& tree, std::string_view key);

/// A value that is not the same in all of several trees.
struct Variation {
  std::string key;                  // as in Difference
  std::vector<std::string> values;  // each tree's, as one line; "" if it does not have it
};

/// In the order of the first tree, then what only the second has, and so on. Lists of different
/// length vary as a whole, as does a map that only one tree has.
[[nodiscard]] std::vector<Variation> variations(std::span<const Node* const> trees);

/// The variations of two trees.
[[nodiscard]] std::vector<Difference> differences(const Node& before, const Node& after);

/// "optimizer.sgd.lr: 0.05 -> 0.001"; long values are truncated.
[[nodiscard]] std::string text_of(const Difference& difference);

}  // namespace trainyard::config

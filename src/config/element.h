// Elements of lists and fields of maps, and the size of trees.
#pragma once

#include <cstddef>
#include <string>

#include "config/node.h"

namespace trainyard::config {

/// Item `index`, counted from 0. Throws ExpressionError unless `list` is a list that has it.
[[nodiscard]] const Node& element_of(const Node& list, const Node& index);
/// The value of the key `name`. Throws ExpressionError unless `map` is a map that has it.
[[nodiscard]] const Node& field_of(const Node& map, const std::string& name);

struct TreeSize {
  std::size_t values = 0;  // collections and scalars
  std::size_t depth = 0;   // levels below the root
};
[[nodiscard]] TreeSize size_of(const Node& node);

}  // namespace trainyard::config

// YAML 1.2 core scalars, and spellings that other parsers read differently.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/node.h"

namespace trainyard::config {

/// Why a plain scalar that reads as text is rejected: octal, hexadecimal and binary numbers,
/// leading zeros, digits with underscores, numbers out of range. Empty if it is fine.
[[nodiscard]] std::string number_trap(std::string_view text);

/// A real as written: shortest digits, with a point if they would look like a whole number.
[[nodiscard]] std::string real_scalar(double value);

// Elements of lists and fields of maps, and the size of trees.

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

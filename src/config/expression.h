// Expressions: a scalar that begins with `$`, and `${...}` inside text.
#pragma once

#include <map>
#include <string>

#include "config/diagnostics.h"
#include "config/node.h"

namespace trainyard::config {

/// Names in scope, with scalars, lists and maps as values.
using Scope = std::map<std::string, Node, std::less<>>;

/// Evaluates `+ - * / // % **`, comparisons, and/or/not, `a if c else b`, min, max, int, names,
/// numbers, elements `w[i]` and fields `u.f`; at most 1,000 tokens, depth 64. Integers stay
/// integers (`/` always gives a real, as in Python). Errors (unknown name with suggestion, index
/// out of range, missing field, division by zero, overflow, bad syntax) go to `diagnostics` at the
/// scalar's position, and the result is null.
[[nodiscard]] Node evaluate(const Node& scalar, const Scope& scope, Diagnostics& diagnostics);

/// A copy of `node` in which every expression is replaced by its value. Lists and maps that
/// expressions give have the limits of a file in number of values and depth.
[[nodiscard]] Node resolved(const Node& node, const Scope& scope, Diagnostics& diagnostics);

}  // namespace trainyard::config

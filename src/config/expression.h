// Expressions: a scalar that begins with `$`, and `${...}` inside text.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/diagnostics.h"
#include "config/node.h"

namespace trainyard::config {

/// Names in scope. A name's value is a scalar or a list node.
using Scope = std::map<std::string, Node, std::less<>>;

/// True if the scalar contains an expression, quoted or not.
[[nodiscard]] bool has_expression(const Node& scalar);

/// Evaluates `+ - * / // % **`, comparisons, and/or/not, `a if c else b`, min, max, int, names and
/// numbers; at most 1,000 tokens, depth 64. Integers stay integers (`/` always gives a real, as in
/// Python). Errors (unknown name with suggestion, division by zero, overflow, bad syntax) go to
/// `diagnostics` at the scalar's position, and the result is null.
[[nodiscard]] Node evaluate(const Node& scalar, const Scope& scope, Diagnostics& diagnostics);

/// A copy of `node` in which every expression is replaced by its value.
[[nodiscard]] Node resolved(const Node& node, const Scope& scope, Diagnostics& diagnostics);

}  // namespace trainyard::config

// Arithmetic on scalar nodes, as Python does it: integers stay integers, overflow is an error.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/expression_tree.h"
#include "config/node.h"

namespace trainyard::config {

[[nodiscard]] Node boolean_node(bool value);

/// For kinds from power to subtract. `/` always gives a real; `//` rounds down and `%` has the sign
/// of the right operand. Throws ExpressionError for non-numeric operands, division by zero,
/// overflow and non-finite results.
[[nodiscard]] Node arithmetic(Term::Kind kind, const Node& left, const Node& right);
/// For kinds from less to not_equal. Only numbers are ordered; values of different kinds are
/// unequal.
[[nodiscard]] Node comparison(Term::Kind kind, const Node& left, const Node& right);
[[nodiscard]] Node negated(const Node& value);
/// int(x): rounds towards zero.
[[nodiscard]] Node truncated(const Node& value);
/// The smallest or largest number; the first one on a tie.
[[nodiscard]] Node extreme(std::span<const Node> values, bool greatest);
/// Throws ExpressionError unless `value` is true or false.
[[nodiscard]] bool truth(const Node& value);
/// Throws ExpressionError unless `value` is a number.
void require_number(const Node& value);

// The tokens of an expression.

struct Token {
  enum class Kind { number, text, word, symbol, end };
  Kind kind = Kind::end;
  std::string text;  // as written; for kind text, without the quotes
  Node number;       // kind number
};

/// Splits an expression into tokens, the last of kind end. Throws ExpressionError.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text);

}  // namespace trainyard::config

// The tree of an expression, between its parser and its evaluation.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace trainyard::config {

/// What is wrong with an expression; evaluate() adds the place.
struct ExpressionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Term {
  enum class Kind {
    literal,
    name,
    call,  // call: min, max, int
    negate,
    plus,
    logical_not,  // one operand
    power,
    multiply,
    divide,
    floor_divide,
    modulo,
    add,
    subtract,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    logical_and,
    logical_or,
    choice,  // value if true, condition, value if false
  };
  Kind kind = Kind::literal;
  Node value;                         // literal
  std::string name;                   // name, call
  std::vector<std::size_t> operands;  // indices of terms
};

/// Terms in the order of parsing; an operand stands before the term that uses it.
struct ExpressionTree {
  std::vector<Term> terms;
  std::size_t root = 0;
};

inline constexpr std::size_t kExpressionTokens = 1000;
inline constexpr int kExpressionDepth = 64;

/// Parses the text behind the `$`. Precedence as in Python, comparisons without chains. Throws
/// ExpressionError.
[[nodiscard]] ExpressionTree parse_expression(std::string_view text);

}  // namespace trainyard::config

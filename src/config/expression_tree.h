// Expression tree: output of the parser, input of the evaluator.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace trainyard::config {

/// An error in an expression; evaluate() adds the position.
struct ExpressionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Term {
  enum class Kind {
    literal,
    name,
    call,     // call: min, max, int
    element,  // an element of a list: the list, the index
    field,    // a field of a map: the map
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
  std::string name;                   // name, call, field
  std::vector<std::size_t> operands;  // indices of terms
};

/// Terms in parsing order; an operand precedes the term that uses it.
struct ExpressionTree {
  std::vector<Term> terms;
  std::size_t root = 0;
};

inline constexpr std::size_t kExpressionTokens = 1000;
inline constexpr int kExpressionDepth = 64;

/// Parses the text after the `$`. Precedence as in Python; comparisons do not chain. Throws
/// ExpressionError.
[[nodiscard]] ExpressionTree parse_expression(std::string_view text);

}  // namespace trainyard::config

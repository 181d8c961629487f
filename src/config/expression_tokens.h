// The tokens of an expression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace trainyard::config {

struct Token {
  enum class Kind { number, text, word, symbol, end };
  Kind kind = Kind::end;
  std::string text;  // as written; for kind text, without the quotes
  Node number;       // kind number
};

/// Splits an expression into tokens, the last of kind end. Throws ExpressionError.
[[nodiscard]] std::vector<Token> tokenize(std::string_view text);

}  // namespace trainyard::config

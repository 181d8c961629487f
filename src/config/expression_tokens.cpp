#include <array>

#include "base/text.h"
#include "config/arithmetic.h"
#include "config/expression_tree.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

// Longer ones first.
constexpr std::array<std::string_view, 19> kSymbols = {"**", "//", "==", "!=", "<=", ">=", "+",
                                                       "-",  "*",  "/",  "%",  "(",  ")",  "[",
                                                       "]",  ".",  ",",  "<",  ">"};

// Digits, points, letters and, after an e, a sign: anything meant as one number.
std::size_t number_length(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size()) {
    const bool sign = text[end] == '+' || text[end] == '-';
    const bool exponent = end > 0 && (text[end - 1] == 'e' || text[end - 1] == 'E');
    const bool hexadecimal = text.substr(0, 2) == "0x";
    if (!is_digit(text[end]) && !begins_name(text[end]) && text[end] != '.' &&
        !(sign && exponent && !hexadecimal)) {
      break;
    }
    ++end;
  }
  return end;
}

Token number_token(std::string_view text) {
  Token token{Token::Kind::number, std::string(text.substr(0, number_length(text))), {}};
  const std::string trap = number_trap(token.text);
  if (!trap.empty()) throw ExpressionError(trap);
  token.number = scalar_node(token.text, false, {});
  if (!token.number.is_number()) throw ExpressionError("'" + token.text + "' is not a number");
  return token;
}

Token word_token(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (begins_name(text[end]) || is_digit(text[end]))) ++end;
  return {Token::Kind::word, std::string(text.substr(0, end)), {}};
}

Token symbol_token(std::string_view text) {
  for (const std::string_view symbol : kSymbols) {
    if (text.substr(0, symbol.size()) == symbol) {
      return {Token::Kind::symbol, std::string(symbol), {}};
    }
  }
  std::size_t length = 1;  // a whole UTF-8 character
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) {
    ++length;
  }
  throw ExpressionError("'" + std::string(text.substr(0, length)) +
                        "' is not part of an expression");
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \n");
    text.remove_prefix(begin == text.npos ? text.size() : begin);
    if (text.empty()) break;
    if (tokens.size() >= kExpressionTokens) {
      throw ExpressionError("more than " + std::to_string(kExpressionTokens) + " tokens");
    }
    const char c = text[0];
    if (c == '\'' || c == '"') {
      const std::size_t end = text.find(c, 1);
      if (end == text.npos) throw ExpressionError(std::string("the quote ") + c + " is not closed");
      tokens.push_back({Token::Kind::text, std::string(text.substr(1, end - 1)), {}});
      text.remove_prefix(end + 1);
      continue;
    }
    const bool number = is_digit(c) || (c == '.' && text.size() > 1 && is_digit(text[1]));
    tokens.push_back(number           ? number_token(text)
                     : begins_name(c) ? word_token(text)
                                      : symbol_token(text));
    text.remove_prefix(tokens.back().text.size());
  }
  tokens.push_back({});
  return tokens;
}

}  // namespace trainyard::config

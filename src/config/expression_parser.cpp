#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "config/arithmetic.h"
#include "config/expression_tree.h"
#include "config/scalars.h"

namespace trainyard::config {

namespace {

using TermKind = Term::Kind;

struct BinarySymbol {
  std::string_view text;
  TermKind kind;
};

// From loosest to tightest; each level is left-associative.
constexpr std::array<BinarySymbol, 1> kOr = {{{"or", TermKind::logical_or}}};
constexpr std::array<BinarySymbol, 1> kAnd = {{{"and", TermKind::logical_and}}};
constexpr std::array<BinarySymbol, 6> kCompare = {{{"<", TermKind::less},
                                                   {"<=", TermKind::less_equal},
                                                   {">", TermKind::greater},
                                                   {">=", TermKind::greater_equal},
                                                   {"==", TermKind::equal},
                                                   {"!=", TermKind::not_equal}}};
constexpr std::array<BinarySymbol, 2> kSum = {{{"+", TermKind::add}, {"-", TermKind::subtract}}};
constexpr std::array<BinarySymbol, 4> kProduct = {{{"*", TermKind::multiply},
                                                   {"/", TermKind::divide},
                                                   {"//", TermKind::floor_divide},
                                                   {"%", TermKind::modulo}}};

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : tokens_(tokenize(text)) {}

  ExpressionTree parse() {
    tree_.root = choice();
    if (now().kind != Token::Kind::end) fail("an operator");
    return std::move(tree_);
  }

 private:
  // Counts nesting while it lives.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) {
      if (++depth_ > kExpressionDepth) {
        throw ExpressionError("nested deeper than " + std::to_string(kExpressionDepth) + " levels");
      }
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  [[nodiscard]] const Token& now() const { return tokens_[at_]; }

  [[nodiscard]] bool is(std::string_view text) const {
    const bool fixed = now().kind == Token::Kind::symbol || now().kind == Token::Kind::word;
    return fixed && now().text == text;
  }

  bool accept(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void fail(const std::string& expected) const {
    const std::string found =
        now().kind == Token::Kind::end ? "found the end" : "found '" + now().text + "'";
    throw ExpressionError("expected " + expected + ", " + found);
  }

  void expect(std::string_view text) {
    if (!accept(text)) fail("'" + std::string(text) + "'");
  }

  std::size_t add(TermKind kind, std::vector<std::size_t> operands) {
    tree_.terms.push_back({kind, {}, {}, std::move(operands)});
    return tree_.terms.size() - 1;
  }

  // value [if condition else value]
  std::size_t choice() {
    const Level level(depth_);
    const std::size_t value = disjunction();
    if (!accept("if")) return value;
    const std::size_t condition = disjunction();
    expect("else");
    const std::size_t other = choice();
    return add(TermKind::choice, {value, condition, other});
  }

  [[nodiscard]] const BinarySymbol* symbol_now(std::span<const BinarySymbol> symbols) const {
    for (const BinarySymbol& symbol : symbols) {
      if (is(symbol.text)) return &symbol;
    }
    return nullptr;
  }

  std::size_t left_to_right(std::span<const BinarySymbol> symbols,
                            std::size_t (ExpressionParser::*next)()) {
    std::size_t left = (this->*next)();
    while (const BinarySymbol* symbol = symbol_now(symbols)) {
      ++at_;
      const std::size_t right = (this->*next)();
      left = add(symbol->kind, {left, right});
    }
    return left;
  }

  std::size_t disjunction() { return left_to_right(kOr, &ExpressionParser::conjunction); }
  std::size_t conjunction() { return left_to_right(kAnd, &ExpressionParser::negation); }

  std::size_t negation() {
    const Level level(depth_);
    if (!accept("not")) return comparison();
    return add(TermKind::logical_not, {negation()});
  }

  std::size_t comparison() {
    const std::size_t left = sum();
    const BinarySymbol* symbol = symbol_now(kCompare);
    if (symbol == nullptr) return left;
    ++at_;
    const std::size_t right = sum();
    if (symbol_now(kCompare) != nullptr) {
      throw ExpressionError("comparisons do not chain; join them with 'and'");
    }
    return add(symbol->kind, {left, right});
  }

  std::size_t sum() { return left_to_right(kSum, &ExpressionParser::product); }
  std::size_t product() { return left_to_right(kProduct, &ExpressionParser::sign); }

  std::size_t sign() {
    const Level level(depth_);
    if (accept("-")) return add(TermKind::negate, {sign()});
    if (accept("+")) return add(TermKind::plus, {sign()});
    return power();
  }

  // Binds tighter than a sign on its left, looser than one on its right: -2 ** -1.
  std::size_t power() {
    const std::size_t base = element();
    if (!accept("**")) return base;
    return add(TermKind::power, {base, sign()});
  }

  // w[i], u.f and any chain of them: u[i].f[0].
  std::size_t element() {
    std::size_t value = primary();
    while (true) {
      if (accept("[")) {
        value = add(TermKind::element, {value, choice()});
        expect("]");
      } else if (accept(".")) {
        if (now().kind != Token::Kind::word) fail("the name of a field");
        value = add(TermKind::field, {value});
        tree_.terms[value].name = now().text;
        ++at_;
      } else {
        return value;
      }
    }
  }

  std::size_t primary() {
    const Token token = now();
    if (accept("(")) {
      const std::size_t inner = choice();
      expect(")");
      return inner;
    }
    if (token.kind == Token::Kind::number) return literal(token.number);
    if (token.kind == Token::Kind::text) return literal(scalar_node(token.text, true, {}));
    if (is("true") || is("false")) return literal(scalar_node(token.text, false, {}));
    const bool reserved = is("and") || is("or") || is("not") || is("if") || is("else");
    if (token.kind != Token::Kind::word || reserved) fail("a value");
    ++at_;
    return is("(") ? call(token.text) : named(token.text);
  }

  std::size_t literal(Node value) {
    ++at_;
    const std::size_t term = add(TermKind::literal, {});
    tree_.terms[term].value = std::move(value);
    return term;
  }

  std::size_t named(const std::string& name) {
    const std::size_t term = add(TermKind::name, {});
    tree_.terms[term].name = name;
    return term;
  }

  std::size_t call(const std::string& name) {
    if (name != "min" && name != "max" && name != "int") {
      throw ExpressionError("'" + name + "' is not a function; the functions are min, max and int");
    }
    expect("(");
    std::vector<std::size_t> arguments = {choice()};
    while (accept(",")) arguments.push_back(choice());
    expect(")");
    if (name == "int" && arguments.size() > 1) throw ExpressionError("'int' takes one value");
    const std::size_t term = add(TermKind::call, std::move(arguments));
    tree_.terms[term].name = name;
    return term;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  ExpressionTree tree_;
};

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

ExpressionTree parse_expression(std::string_view text) { return ExpressionParser(text).parse(); }

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

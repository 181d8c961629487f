#include "config/scalars.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"
#include "config/diagnostics.h"
#include "config/expression.h"
#include "config/expression_tree.h"

namespace trainyard::config {
namespace {

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return text;
}

std::size_t digits_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - begin;
}

enum class Form { text, integer, real };

// [-+]?[0-9]+ and [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? (YAML 1.2.2, 10.3.2).
Form number_form(std::string_view signed_text) {
  const std::string_view text = without_sign(signed_text);
  const std::size_t whole = digits_at(text, 0);
  std::size_t at = whole;
  if (at == text.size()) return whole > 0 ? Form::integer : Form::text;
  if (text[at] == '.') {
    const std::size_t decimals = digits_at(text, at + 1);
    if (whole + decimals == 0) return Form::text;
    at += 1 + decimals;
  } else if (whole == 0) {
    return Form::text;
  }
  if (at == text.size()) return Form::real;
  if (text[at] != 'e' && text[at] != 'E') return Form::text;
  const std::string_view exponent = without_sign(text.substr(at + 1));
  const bool all_digits = !exponent.empty() && digits_at(exponent, 0) == exponent.size();
  return all_digits ? Form::real : Form::text;
}

bool has_leading_zero(std::string_view text) {
  text = without_sign(text);
  return text.size() > 1 && text[0] == '0' && is_digit(text[1]);
}

// 0x1F, 0o17, 0b101 and the like.
bool is_based(std::string_view text) {
  text = without_sign(text);
  if (text.size() < 3 || text[0] != '0') return false;
  const char base = text[1];
  const std::string_view digits = base == 'x' || base == 'X'   ? "0123456789abcdefABCDEF_"
                                  : base == 'o' || base == 'O' ? "01234567_"
                                  : base == 'b' || base == 'B' ? "01_"
                                                               : "";
  return !digits.empty() && text.substr(2).find_first_not_of(digits) == text.npos;
}

bool has_underscores(std::string_view text) {
  if (text.find('_') == text.npos || !is_digit(without_sign(text).substr(0, 1)[0])) return false;
  std::string bare;
  for (const char c : text) {
    if (c != '_') bare += c;
  }
  return number_form(bare) != Form::text;
}

template <class T>
bool read_number(std::string_view text, T& out) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc{} && end == text.data() + text.size();
}

/// The spellings of a word of the core schema: null, Null, NULL.
using Spellings = std::array<std::string_view, 3>;
constexpr Spellings kNull = {"null", "Null", "NULL"};
constexpr Spellings kTrue = {"true", "True", "TRUE"};
constexpr Spellings kFalse = {"false", "False", "FALSE"};

bool is_one_of(const Spellings& spellings, std::string_view text) {
  return std::ranges::find(spellings, text) != spellings.end();
}

bool special_real(std::string_view text, double& out) {
  constexpr Spellings kInfinity = {".inf", ".Inf", ".INF"};
  constexpr Spellings kNan = {".nan", ".NaN", ".NAN"};
  if (is_one_of(kNan, text)) {
    out = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (!is_one_of(kInfinity, without_sign(text))) return false;
  out = std::numeric_limits<double>::infinity() * (text[0] == '-' ? -1 : 1);
  return true;
}

void read_plain(Node& node) {
  const std::string& text = node.text;
  if (text.empty() || text == "~" || is_one_of(kNull, text)) {
    node.kind = Node::Kind::null;
  } else if (is_one_of(kTrue, text) || is_one_of(kFalse, text)) {
    node.kind = Node::Kind::boolean;
    node.boolean = is_one_of(kTrue, text);
    node.text = node.boolean ? "true" : "false";
  } else if (special_real(text, node.real)) {
    node.kind = Node::Kind::real;
  } else if (number_trap(text).empty()) {
    const Form form = number_form(text);
    if (form == Form::integer && read_number(text, node.integer)) {
      node.kind = Node::Kind::integer;
      node.real = static_cast<double>(node.integer);
    } else if (form == Form::real && read_number(text, node.real)) {
      node.kind = Node::Kind::real;
    }
  }
}

bool within(double value, const Limits& limits) {
  const bool above = limits.exclusive_minimum ? value > limits.minimum : value >= limits.minimum;
  return above && value <= limits.maximum && !std::isinf(value);
}

std::string range_text(const Limits& limits) {
  const bool has_minimum = std::isfinite(limits.minimum);
  const bool has_maximum = std::isfinite(limits.maximum);
  const std::string low = number_text(limits.minimum);
  const std::string high = number_text(limits.maximum);
  if (has_minimum && limits.exclusive_minimum) {
    return " above " + low + (has_maximum ? " and at most " + high : "");
  }
  if (has_minimum && has_maximum) return " from " + low + " to " + high;
  if (has_minimum) return " of at least " + low;
  return has_maximum ? " of at most " + high : "";
}

bool is_word_of(const Node& value, std::string_view first, std::string_view second) {
  if (value.kind != Node::Kind::text || value.quoted) return false;
  const std::string word = lower_case(value.text);
  return word == first || word == second;
}

/// A calculation without its `$`, such as 1/255.
bool is_arithmetic(const Node& found) {
  if (found.kind != Node::Kind::text || !found.expression.empty()) return false;
  if (found.text.find_first_of("*/+-%") == std::string::npos) return false;
  try {
    Diagnostics diagnostics;
    return evaluate(scalar_node("$" + found.text, true, {}), {}, diagnostics).is_number();
  } catch (const Error&) {
    return false;
  }
}

/// What a real number lacks where a whole one is expected.
std::string hint_of_real(const Node& found) {
  const std::size_t slash = found.expression.find('/');
  if (slash != std::string::npos && found.expression.find("//") == std::string::npos) {
    std::string whole = found.expression;
    return "; '/' gives a real number, '//' a whole one: " + whole.insert(slash, "/");
  }
  if (!found.expression.empty()) return "; int(...) makes a whole number";
  return found.real == std::trunc(found.real) ? "; write it without point or exponent" : "";
}

}  // namespace

std::string number_trap(std::string_view text) {
  const std::string found = "'" + std::string(text) + "'";
  if (is_based(text)) {
    return found + " is not a number here; write it in decimal, or in quotes if text is meant";
  }
  if (text.empty() || without_sign(text).empty()) return {};
  if (has_underscores(text)) {
    return found + " is not a number here; remove the underscores, or quote it if text is meant";
  }
  const Form form = number_form(text);
  if (form == Form::text) return {};
  if (has_leading_zero(text)) {
    return found + " looks octal; drop the leading zero, or quote it if text is meant";
  }
  std::int64_t integer = 0;
  if (form == Form::integer && !read_number(text, integer)) {
    return found + " is beyond 64-bit whole numbers";
  }
  double real = 0;
  if (form == Form::real && !read_number(text, real)) {
    return found + " is beyond the range of double numbers (5e-324 to 1.8e308)";
  }
  return {};
}

std::string real_scalar(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  const std::string text = number_text(value);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

Node scalar_node(std::string text, bool quoted, Position where) {
  Node node;
  node.kind = Node::Kind::text;
  node.text = std::move(text);
  node.quoted = quoted;
  node.where = std::move(where);
  if (!quoted) read_plain(node);
  return node;
}

const Node& element_of(const Node& list, const Node& index) {
  if (list.kind != Node::Kind::list) {
    throw ExpressionError("expected a list before '[', found " + describe(list));
  }
  if (index.kind != Node::Kind::integer) {
    throw ExpressionError("expected a whole number as index, found " + describe(index));
  }
  const auto count = static_cast<std::int64_t>(list.items.size());
  if (index.integer >= 0 && index.integer < count) {
    return list.items[static_cast<std::size_t>(index.integer)];
  }
  const std::string has = count == 0   ? "the list is empty"
                          : count == 1 ? "the list has one item, with index 0"
                                       : "the list has items 0 to " + std::to_string(count - 1);
  throw ExpressionError("index " + std::to_string(index.integer) + " is out of range; " + has);
}

const Node& field_of(const Node& map, const std::string& name) {
  if (map.kind != Node::Kind::map) {
    throw ExpressionError("expected a map before '." + name + "', found " + describe(map));
  }
  if (const Node* found = map.find(name)) return *found;
  std::vector<std::string> names;
  for (const Entry& entry : map.entries) names.push_back(entry.key);
  std::string hint = name.size() > 1 ? suggestion(name, names) : "";
  if (hint.empty()) hint = names.empty() ? "; it is empty" : "; it has " + joined(names);
  throw ExpressionError("the map has no field '" + name + "'" + hint);
}

TreeSize size_of(const Node& node) {
  TreeSize size{.values = 1};
  const auto add = [&](const Node& child) {
    const TreeSize inner = size_of(child);
    size.values += inner.values;
    size.depth = std::max(size.depth, inner.depth + 1);
  };
  for (const Node& item : node.items) add(item);
  for (const Entry& entry : node.entries) add(entry.value);
  return size;
}

std::string wanted_text(std::string_view type, const Limits& limits) {
  const std::string range = range_text(limits);
  if (type == "integer") return "a whole number" + range;
  if (type == "number") return "a number" + range;
  if (type == "boolean") return "true or false";
  if (type == "text") return "text";
  if (type == "pair") return "a whole number" + range + " or two of them, [h, w]";
  if (type == "list of integers") return "a list of whole numbers" + range;
  if (type == "list of numbers") return "a list of numbers" + range;
  if (type == "table") return "a list of lists of numbers" + range;
  if (type == "list of texts") return "a list of texts";
  return "a " + std::string(type);
}

const Node* read_value(const Node& node, const Limits& limits, std::int64_t& out) {
  if (node.kind != Node::Kind::integer || !within(node.real, limits)) return &node;
  out = node.integer;
  return nullptr;
}

const Node* read_value(const Node& node, const Limits& limits, double& out) {
  if (!node.is_number() || !within(node.real, limits)) return &node;
  out = node.real;
  return nullptr;
}

const Node* read_value(const Node& node, const Limits& /*limits*/, bool& out) {
  if (node.kind != Node::Kind::boolean) return &node;
  out = node.boolean;
  return nullptr;
}

const Node* read_value(const Node& node, const Limits& /*limits*/, std::string& out) {
  if (node.kind != Node::Kind::text) return &node;
  out = node.text;
  return nullptr;
}

const Node* read_value(const Node& node, const Limits& limits, Pair& out) {
  if (node.kind == Node::Kind::list) {
    if (node.items.size() != 2) return &node;
    Pair pair;
    if (const Node* fault = read_value(node.items[0], limits, pair.h)) return fault;
    if (const Node* fault = read_value(node.items[1], limits, pair.w)) return fault;
    out = pair;
    return nullptr;
  }
  std::int64_t both = 0;
  if (const Node* fault = read_value(node, limits, both)) return fault;
  out = {both, both};
  return nullptr;
}

bool turns_off(const Node& value) {
  return value.kind == Node::Kind::boolean ? !value.boolean : is_word_of(value, "no", "off");
}

bool turns_on(const Node& value) {
  return value.kind == Node::Kind::boolean ? value.boolean : is_word_of(value, "yes", "on");
}

std::string value_hint(std::string_view type, const Node& found) {
  const bool whole = type == "integer" || type == "pair" || type == "list of integers";
  const bool number = whole || type == "number" || type == "list of numbers" || type == "table";
  if (number && std::isinf(found.real)) return "; it must be finite";
  if (whole && found.kind == Node::Kind::real) return hint_of_real(found);
  if (number && found.quoted && scalar_node(found.text, false, {}).is_number()) {
    return "; leave out the quotes";
  }
  if (number && is_arithmetic(found)) return "; an expression begins with '$': $" + found.text;
  if (type == "boolean" && turns_on(found)) return "; write true";
  if (type == "boolean" && turns_off(found)) return "; write false";
  const bool text = type == "text" || type == "list of texts";
  if (text && found.is_scalar() && found.kind != Node::Kind::null) return "; put it in quotes";
  return "";
}

std::string written(std::int64_t value) { return number_text(value); }

std::string written(double value) {
  // Whole numbers are written without a point if they read back unchanged.
  const std::string text = number_text(value);
  return parse_integer(text) ? text : real_scalar(value);
}

std::string written(bool value) { return value ? "true" : "false"; }

std::string written(const std::string& value) {
  const std::string line = to_yaml(scalar_node(value, true, {}));
  return std::string(trimmed(line));
}

std::string written(const Pair& value) {
  if (value.h == value.w) return number_text(value.h);
  return "[" + number_text(value.h) + ", " + number_text(value.w) + "]";
}

Node node_of(const std::string& value) { return scalar_node(value, true, {}); }

Node node_of(const Pair& value) {
  if (value.h == value.w) return node_of(value.h);
  return node_of(std::vector<std::int64_t>{value.h, value.w});
}

}  // namespace trainyard::config

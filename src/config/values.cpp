#include "config/values.h"

#include <cmath>

#include "base/text.h"
#include "config/expression.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

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

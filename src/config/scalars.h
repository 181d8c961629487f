// Scalars: YAML 1.2 core, spellings that other parsers read differently, and scalars and lists as
// typed values with the words for expected values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "config/node.h"

namespace trainyard::config {

/// Why a plain scalar that reads as text is rejected: octal, hexadecimal and binary numbers,
/// leading zeros, digits with underscores, numbers out of range. Empty if it is fine.
[[nodiscard]] std::string number_trap(std::string_view text);

/// A real as written: shortest digits, with a point if they would look like a whole number.
[[nodiscard]] std::string real_scalar(double value);

// Elements of lists and fields of maps, and the size of trees.

/// Item `index`, counted from 0. Throws ExpressionError unless `list` is a list that has it.
[[nodiscard]] const Node& element_of(const Node& list, const Node& index);
/// The value of the key `name`. Throws ExpressionError unless `map` is a map that has it.
[[nodiscard]] const Node& field_of(const Node& map, const std::string& name);

struct TreeSize {
  std::size_t values = 0;  // collections and scalars
  std::size_t depth = 0;   // levels below the root
};
[[nodiscard]] TreeSize size_of(const Node& node);

/// The expected value as messages name it: "a whole number of at least 1".
[[nodiscard]] std::string wanted_text(std::string_view type, const Limits& limits);

/// Reads `node` into `out`; returns null, or on failure leaves `out` unchanged and returns the
/// invalid node (`node` or one of its items).
const Node* read_value(const Node& node, const Limits& limits, std::int64_t& out);
const Node* read_value(const Node& node, const Limits& limits, double& out);
const Node* read_value(const Node& node, const Limits& limits, bool& out);
const Node* read_value(const Node& node, const Limits& limits, std::string& out);
const Node* read_value(const Node& node, const Limits& limits, Pair& out);
template <class T>
const Node* read_value(const Node& node, const Limits& limits, std::vector<T>& out) {
  if (node.kind != Node::Kind::list) return &node;
  std::vector<T> values(node.items.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value{};
    if (const Node* fault = read_value(node.items[i], limits, value)) return fault;
    values[i] = std::move(value);
  }
  out = std::move(values);
  return nullptr;
}

/// Whether the value of an optional part leaves it out, as false, no and off do, or has it without
/// keys, as true, yes and on do. Text in quotes is neither.
[[nodiscard]] bool turns_off(const Node& value);
[[nodiscard]] bool turns_on(const Node& value);

/// A hint for a value of the wrong kind ("; put it in quotes"), or "".
[[nodiscard]] std::string value_hint(std::string_view type, const Node& found);

/// A default as it would be written.
[[nodiscard]] std::string written(std::int64_t value);
[[nodiscard]] std::string written(double value);
[[nodiscard]] std::string written(bool value);
[[nodiscard]] std::string written(const std::string& value);
[[nodiscard]] std::string written(const Pair& value);
template <class T>
[[nodiscard]] std::string written(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += (text.size() > 1 ? ", " : "") + written(value);
  return text + "]";
}

/// The node that the value's written form would parse to, without a position.
template <class T>
[[nodiscard]] Node node_of(const T& value) {
  return scalar_node(written(value), false, {});
}
[[nodiscard]] Node node_of(const std::string& value);
[[nodiscard]] Node node_of(const Pair& value);
template <class T>
[[nodiscard]] Node node_of(const std::vector<T>& values) {
  Node list;
  list.kind = Node::Kind::list;
  for (const T& value : values) list.items.push_back(node_of(value));
  return list;
}

}  // namespace trainyard::config

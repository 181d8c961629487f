// Scalars and lists of the tree as typed values: what is wanted, and whether it is found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

namespace trainyard::config {

/// What a message says was expected: "a whole number of at least 1".
[[nodiscard]] std::string wanted_text(std::string_view type, const Limits& limits);

/// Reads `node` into `out`; on failure `out` stays and the answer is the node at fault (`node` or
/// one of its items), else null.
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

/// A value as the node that its written form reads as, without a position.
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

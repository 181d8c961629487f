#include "config/node.h"

#include <cmath>
#include <utility>

#include "base/text.h"

namespace trainyard::config {
namespace {

bool same_scalar(const Node& a, const Node& b) {
  switch (a.kind) {
    case Node::Kind::boolean:
      return a.boolean == b.boolean;
    case Node::Kind::integer:
      return a.integer == b.integer;
    case Node::Kind::real:
      return a.real == b.real || (std::isnan(a.real) && std::isnan(b.real));
    case Node::Kind::text:
      return a.text == b.text;
    default:
      return true;
  }
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) {
  return const_cast<Node*>(static_cast<const Node&>(*this).find(key));
}

std::string describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::integer:
      return "number " + number_text(node.integer);
    case Node::Kind::real:
      return "number " + (node.text.empty() ? number_text(node.real) : shortened(node.text));
    case Node::Kind::text:
      return "text '" + shortened(node.text) + "'";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
  }
  return "nothing";
}

Node with_typed_paths(Node tree) {
  if (!tree.typed_path.empty()) tree.text = tree.typed_path;
  for (Entry& entry : tree.entries) entry.value = with_typed_paths(std::move(entry.value));
  return tree;
}

bool same_value(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size()) {
    return false;
  }
  if (a.is_scalar()) return same_scalar(a, b);
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!same_value(a.items[i], b.items[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    if (a.entries[i].key != b.entries[i].key) return false;
    if (!same_value(a.entries[i].value, b.entries[i].value)) return false;
  }
  return true;
}

}  // namespace trainyard::config

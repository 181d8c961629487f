#include "config/element.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "config/diagnostics.h"
#include "config/expression_tree.h"

namespace trainyard::config {

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

}  // namespace trainyard::config

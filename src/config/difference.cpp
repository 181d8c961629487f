#include "config/difference.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"

namespace trainyard::config {
namespace {

std::string one_line(const Node& node) {
  std::string text;
  if (node.kind == Node::Kind::list) {
    for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + one_line(item);
    return "[" + text + "]";
  }
  if (node.kind == Node::Kind::map) {
    for (const Entry& entry : node.entries) {
      text += (text.empty() ? "" : ", ") + entry.key + ": " + one_line(entry.value);
    }
    return "{" + text + "}";
  }
  return std::string(trimmed(to_yaml(node)));
}

/// The values of one key; null: the tree does not have it.
using Values = std::vector<const Node*>;

bool all_same(const Values& values) {
  return std::ranges::all_of(values, [&](const Node* value) {
    return value == values[0] ||
           (value != nullptr && values[0] != nullptr && same_value(*value, *values[0]));
  });
}

/// True if at least two trees have a value, and all of those are of this kind.
bool are_all(Node::Kind kind, const Values& values) {
  return std::ranges::count(values, nullptr) + 1 < std::ssize(values) &&
         std::ranges::all_of(
             values, [&](const Node* value) { return value == nullptr || value->kind == kind; });
}

bool are_lists_of_one_length(const Values& values) {
  return are_all(Node::Kind::list, values) && std::ranges::all_of(values, [&](const Node* value) {
           return value != nullptr && values[0] != nullptr &&
                  value->items.size() == values[0]->items.size();
         });
}

void compare(const std::string& path, const Values& values, std::vector<Variation>& found);

void compare_maps(const std::string& path, const Values& maps, std::vector<Variation>& found) {
  const std::string prefix = path.empty() ? "" : path + ".";
  std::set<std::string> done;
  for (const Node* map : maps) {
    if (map == nullptr) continue;
    for (const Entry& entry : map->entries) {
      if (!done.insert(entry.key).second) continue;
      Values values;
      for (const Node* each : maps) {
        values.push_back(each == nullptr ? nullptr : each->find(entry.key));
      }
      compare(prefix + entry.key, values, found);
    }
  }
}

void compare(const std::string& path, const Values& values, std::vector<Variation>& found) {
  if (all_same(values)) return;
  if (are_all(Node::Kind::map, values)) return compare_maps(path, values, found);
  if (are_lists_of_one_length(values)) {
    for (std::size_t i = 0; i < values[0]->items.size(); ++i) {
      Values items;
      for (const Node* list : values) items.push_back(&list->items[i]);
      compare(path + "[" + std::to_string(i) + "]", items, found);
    }
    return;
  }
  Variation variation{.key = path, .values = {}};
  for (const Node* value : values) {
    variation.values.push_back(value == nullptr ? "" : one_line(*value));
  }
  found.push_back(std::move(variation));
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 60;
  if (text.empty()) return "(not set)";
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace

std::string value_at(const Node& tree, std::string_view key) {
  const Node* node = &tree;
  for (const std::string& name : split(key, '.')) {
    node = node->find(name);
    if (node == nullptr) return "";
  }
  return one_line(*node);
}

std::vector<Variation> variations(std::span<const Node* const> trees) {
  std::vector<Variation> found;
  if (!trees.empty()) compare("", {trees.begin(), trees.end()}, found);
  return found;
}

std::vector<Difference> differences(const Node& before, const Node& after) {
  const std::array<const Node*, 2> trees = {&before, &after};
  std::vector<Difference> found;
  for (Variation& variation : variations(trees)) {
    found.push_back({.key = std::move(variation.key),
                     .before = std::move(variation.values[0]),
                     .after = std::move(variation.values[1])});
  }
  return found;
}

std::string text_of(const Difference& difference) {
  return difference.key + ": " + shortened(difference.before) + " -> " +
         shortened(difference.after);
}

}  // namespace trainyard::config

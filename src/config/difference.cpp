#include "config/difference.h"

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

void compare(const std::string& path, const Node* before, const Node* after,
             std::vector<Difference>& found) {
  if (before != nullptr && after != nullptr && same_value(*before, *after)) return;
  const bool alike = before != nullptr && after != nullptr && before->kind == after->kind;
  if (alike && before->kind == Node::Kind::map) {
    const std::string prefix = path.empty() ? "" : path + ".";
    for (const Entry& entry : before->entries) {
      compare(prefix + entry.key, &entry.value, after->find(entry.key), found);
    }
    for (const Entry& entry : after->entries) {
      if (before->find(entry.key) == nullptr) {
        compare(prefix + entry.key, nullptr, &entry.value, found);
      }
    }
    return;
  }
  if (alike && before->kind == Node::Kind::list && before->items.size() == after->items.size()) {
    for (std::size_t i = 0; i < before->items.size(); ++i) {
      compare(path + "[" + std::to_string(i) + "]", &before->items[i], &after->items[i], found);
    }
    return;
  }
  found.push_back({.key = path,
                   .before = before == nullptr ? "" : one_line(*before),
                   .after = after == nullptr ? "" : one_line(*after)});
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 60;
  if (text.empty()) return "(not set)";
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace

std::vector<Difference> differences(const Node& before, const Node& after) {
  std::vector<Difference> found;
  compare("", &before, &after, found);
  return found;
}

std::string text_of(const Difference& difference) {
  return difference.key + ": " + shortened(difference.before) + " -> " +
         shortened(difference.after);
}

}  // namespace trainyard::config

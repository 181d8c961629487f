#include "config/node.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "base/text.h"
#include "config/scalars.h"

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

constexpr std::size_t kFlowColumns = 90;  // longer lists of scalars are written line by line

// Characters with no meaning to YAML anywhere in a plain scalar after its first character.
bool is_plain_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return word || byte >= 0x80 ||
         std::string_view("_$./+-*%()<>=^~ ").find(c) != std::string_view::npos;
}

bool is_plain(const std::string& text) {
  if (text.empty() || text.size() > kFlowColumns || text.back() == ' ') return false;
  const std::string_view first = "_$./";
  const bool word = is_plain_letter(text[0]) &&
                    std::string_view("+-*%()<>=^~ _$./").find(text[0]) == std::string_view::npos;
  if (!word && first.find(text[0]) == first.npos) return false;
  if (text.substr(0, 3) == "...") return false;
  for (const char c : text) {
    if (!is_plain_letter(c)) return false;
  }
  return true;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned>(byte));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string text_scalar(const std::string& text) {
  const bool text_again =
      scalar_node(text, false, {}).kind == Node::Kind::text && number_trap(text).empty();
  return text_again && is_plain(text) ? text : quoted(text);
}

std::string scalar(const Node& node) {
  // As written, if that still reads the same.
  if (node.kind != Node::Kind::text && !node.text.empty() &&
      same_value(scalar_node(node.text, false, {}), node)) {
    return node.text;
  }
  switch (node.kind) {
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::integer:
      return number_text(node.integer);
    case Node::Kind::real:
      return real_scalar(node.real);
    case Node::Kind::text:
      return text_scalar(node.text);
    default:
      return "null";
  }
}

// Lists of scalars (and of such lists) on one line; empty if that does not fit.
std::string flow(const Node& node) {
  if (node.is_scalar()) return scalar(node);
  if (node.kind == Node::Kind::map) return node.entries.empty() ? "{}" : "";
  std::string out = "[";
  for (const Node& item : node.items) {
    const std::string text = flow(item);
    if (text.empty()) return "";
    out += (out.size() > 1 ? ", " : "") + text;
    if (out.size() > kFlowColumns) return "";
  }
  return out + "]";
}

void write(const Node& node, std::size_t indent, std::string& out);

// Writes the part after `key:` or `-`.
void write_value(const Node& node, std::size_t indent, std::string& out) {
  const std::string line = flow(node);
  if (!line.empty()) {
    out += " " + line + "\n";
    return;
  }
  out += '\n';
  write(node, indent, out);
}

void write_entry(const Entry& entry, std::size_t indent, std::string& out) {
  out += is_plain(entry.key) ? entry.key : quoted(entry.key);
  out += ':';
  write_value(entry.value, indent + 2, out);
}

void write(const Node& node, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (const Entry& entry : node.entries) {
    out += margin;
    write_entry(entry, indent, out);
  }
  for (const Node& item : node.items) {
    out += margin + "-";
    if (item.kind != Node::Kind::map || item.entries.empty()) {
      write_value(item, indent + 2, out);
      continue;
    }
    // The first key of a map is on the line of its dash.
    for (std::size_t i = 0; i < item.entries.size(); ++i) {
      out += i == 0 ? " " : margin + "  ";
      write_entry(item.entries[i], indent + 2, out);
    }
  }
}

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

std::string to_yaml(const Node& node) {
  const std::string line = flow(node);
  if (!line.empty()) return line + "\n";
  std::string out;
  write(node, 0, out);
  return out;
}

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

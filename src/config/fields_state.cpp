#include "config/fields_state.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/text.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

constexpr std::size_t kShownKeys = 12;

// "; its keys are a, b, c", truncated if long.
std::string listing(std::span<const std::string> words, std::string_view lead) {
  if (words.empty()) return "";
  const std::size_t shown = std::min(words.size(), kShownKeys);
  return "; " + std::string(lead) + " " + joined(words.first(shown)) +
         (shown < words.size() ? ", ..." : "");
}

}  // namespace

const Node* Fields::State::explicit_value(std::string_view key) const {
  if (describing()) return nullptr;
  if (node->kind == Node::Kind::map) return node->find(key);
  if (!positional) return nullptr;
  // Positional values are matched in the order of the declarations; the requested key is the next
  // one or one declared earlier.
  const auto found = std::find(declared.begin(), declared.end(), key);
  const auto index = static_cast<std::size_t>(found - declared.begin());
  if (node->kind != Node::Kind::list) return index == 0 ? node : nullptr;
  // A rest() has taken all values from its own position on.
  if (taken_rest && index > rest_begin) return nullptr;
  return index < node->items.size() ? &node->items[index] : nullptr;
}

const Node* Fields::State::value_of(std::string_view key) const {
  const Node* value = explicit_value(key);
  if (value == nullptr && defaults != nullptr) value = defaults->find(key);
  return value;
}

const Node* Fields::State::remaining() {
  if (!positional || node->kind != Node::Kind::list) return nullptr;
  const std::size_t first = declared.size();
  if (first >= node->items.size()) return nullptr;
  Node& list = made.emplace_back();
  list.kind = Node::Kind::list;
  list.where = node->where;
  list.items.assign(node->items.begin() + static_cast<std::ptrdiff_t>(first), node->items.end());
  taken_rest = true;
  rest_begin = first;
  return &list;
}

const Node* Fields::State::take(const Declaration& declaration) {
  const Next marks = std::exchange(next, {});
  if (describing()) {
    describe(declaration, marks);
    return nullptr;
  }
  const Node* value = marks.rest ? remaining() : nullptr;
  if (value == nullptr) value = value_of(declaration.key);
  declared.emplace_back(declaration.key);
  if (value == nullptr) {
    if (marks.required) missing.emplace_back(declaration.key);
    return nullptr;
  }
  // Null is a key that is left out; of a required one the message is that nothing was found.
  if (value->kind == Node::Kind::null && !marks.required) return nullptr;
  const bool alone = value->is_scalar() && declaration.type.starts_with("list of");
  return marks.rest && alone ? &list_of(*value) : value;
}

const Node& Fields::State::list_of(const Node& value) {
  Node& list = made.emplace_back();
  list.kind = Node::Kind::list;
  list.where = value.where;
  list.items.push_back(value);
  return list;
}

void Fields::State::describe(const Declaration& declaration, const Next& marks) {
  FieldDescription& out = descriptions.emplace_back();
  out.key = declaration.key;
  out.help = declaration.help;
  out.type = declaration.type;
  out.required = marks.required;
  if (!marks.required && !marks.without_default) out.default_text = declaration.default_text;
  out.has_minimum = std::isfinite(declaration.limits.minimum);
  out.has_maximum = std::isfinite(declaration.limits.maximum);
  if (out.has_minimum) out.minimum = declaration.limits.minimum;
  if (out.has_maximum) out.maximum = declaration.limits.maximum;
  out.exclusive_minimum = out.has_minimum && declaration.limits.exclusive_minimum;
  out.rest = marks.rest;
  out.feature = marks.feature;
  out.others = marks.others;
  out.words = declaration.words;
}

void Fields::State::settle(std::string_view key, Node value) {
  settled.kind = Node::Kind::map;
  if (Node* known = settled.find(key)) {
    *known = std::move(value);
  } else {
    settled.entries.push_back({std::string(key), {}, std::move(value)});
  }
}

void Fields::State::settle_in_parent() {
  if (parent == nullptr) return;
  settled.kind = Node::Kind::map;
  Node value = std::move(settled);
  if (!member_name.empty()) {
    Node member;
    member.kind = Node::Kind::map;
    member.entries.push_back({member_name, {}, std::move(value)});
    value = std::move(member);
  }
  if (!in_list) return parent->settle(parent_key, std::move(value));
  if (parent->settled.find(parent_key) == nullptr) {
    Node list;
    list.kind = Node::Kind::list;
    parent->settle(parent_key, std::move(list));
  }
  parent->settled.find(parent_key)->items.push_back(std::move(value));
}

void Fields::State::adopt(Fields& body, std::string_view key, const std::string& member,
                          bool list) {
  body.state_->parent = this;
  body.state_->parent_key = key;
  body.state_->member_name = member;
  body.state_->in_list = list;
}

void Fields::State::wrong(const Node& value, std::string_view key, const std::string& wanted,
                          std::string hint) const {
  // `early_stop: false` is not a value of its first key.
  const bool off = &value == node && value.kind == Node::Kind::boolean && !value.boolean;
  if (off && parent != nullptr) hint = "; without '" + what + "', leave it out or set it to null";
  diagnostics->error(value.where, "'" + std::string(key) + "' must be " + wanted + ", found " +
                                      config::describe(value) + hint);
}

std::string Fields::State::path_of(std::string_view key) const {
  std::string path(key);
  for (const State* map = this; map->parent != nullptr; map = map->parent) {
    path = map->parent_key + "." + path;
  }
  return path;
}

const std::string& Fields::State::file() const {
  const State* top = this;
  while (top->parent != nullptr) top = top->parent;
  return top->node->where.file;
}

std::string Fields::State::inside() const { return what.empty() ? "" : " in '" + what + "'"; }

void Fields::State::report_unknown(const Node& map) {
  const std::unordered_set<std::string> known(declared.begin(), declared.end());
  for (const Entry& entry : map.entries) {
    if (known.contains(entry.key)) continue;
    diagnostics->error(entry.where,
                       "unknown key '" + entry.key + "'" + inside() + meaning_of(entry));
  }
}

const ForeignWord* Fields::State::foreign_key(std::string_view word) const {
  const ForeignWord* own = foreign_word(word, what);
  if (own != nullptr || member_name.empty()) return own;
  own = foreign_word(word, "any_" + parent_key);
  return own != nullptr && std::ranges::find(declared, own->here) != declared.end() ? own : nullptr;
}

std::string Fields::State::meaning_of(const Entry& entry) {
  const ForeignWord* foreign = foreign_key(entry.key);
  const std::string meant =
      foreign == nullptr ? nearest(entry.key, declared) : std::string(foreign->here);
  // The misspelt key is the missing one: one message is enough.
  std::erase(missing, meant);
  if (foreign == nullptr && !meant.empty()) return "; did you mean '" + meant + "'?";
  // At the top the place shows the form of the value too.
  const bool beside = std::ranges::find(declared, meant) != declared.end();
  const bool other = foreign != nullptr && !foreign->remark.empty();
  const bool own = other || (beside && parent != nullptr);
  std::string elsewhere =
      own ? "" : diagnostics->elsewhere(foreign == nullptr ? entry.key : meant, entry, what);
  if (!elsewhere.empty()) return elsewhere;
  return other || beside ? meaning_text(*foreign) : listing(declared, "its keys are");
}

void Fields::State::report_misspelt(std::string_view key) {
  const std::vector<std::string> wanted{std::string(key)};
  for (const Entry& entry : node->entries) {
    if (nearest(entry.key, wanted).empty()) continue;
    diagnostics->error(
        entry.where, "unknown key '" + entry.key + "'" + inside() + suggestion(entry.key, wanted));
    std::erase(missing, key);
  }
}

void Fields::State::report_surplus() {
  const std::size_t found = node->kind == Node::Kind::list ? node->items.size() : 1;
  if (found <= declared.size() || taken_rest) return;
  const Node& surplus = node->kind == Node::Kind::list ? node->items[declared.size()] : *node;
  const std::string name = what.empty() ? "this" : "'" + what + "'";
  if (declared.empty()) {
    diagnostics->error(surplus.where,
                       name + " takes no values, found " + config::describe(surplus));
    return;
  }
  diagnostics->error(surplus.where,
                     name + " takes at most " + count_text(std::ssize(declared), "value") +
                         ", found " + std::to_string(found) + listing(declared, "in this order:"));
}

void Fields::State::report_missing() {
  if (missing.empty()) return;
  std::string keys = "'" + missing[0] + "'";
  for (std::size_t i = 1; i < missing.size(); ++i) {
    keys += (i + 1 < missing.size() ? ", '" : " and '") + missing[i] + "'";
  }
  diagnostics->missing(where,
                       (missing.size() == 1 ? "missing key " : "missing keys ") + keys + inside());
}

std::optional<std::size_t> Fields::State::index_of(const Node& value, const std::string& word,
                                                   const Position& position, std::string_view key,
                                                   Names names) const {
  const bool is_word = value.kind == Node::Kind::text || value.kind == Node::Kind::map ||
                       value.kind == Node::Kind::boolean;
  for (std::size_t i = 0; is_word && i < names.size(); ++i) {
    if (names[i] == word || (names[i] == "false" && turns_off(value))) return i;
  }
  const std::vector<std::string> candidates(names.begin(), names.end());
  const std::string found =
      value.kind == Node::Kind::map ? "'" + word + "'" : config::describe(value);
  const std::vector<std::string> near = is_word ? candidates : std::vector<std::string>();
  diagnostics->error(position, "'" + std::string(key) + "' must be one of " + joined(candidates) +
                                   ", found " + found + meaning_or_nearest(word, key, near));
  return std::nullopt;
}

}  // namespace trainyard::config

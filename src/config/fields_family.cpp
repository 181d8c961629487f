// Nested maps and families of Fields.
#include <algorithm>

#include "base/text.h"
#include "config/fields_state.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

// A family may contain itself (members that hold lists of members): the reference shows this many
// levels.
constexpr int kDescribedDepth = 4;

// The map's entry with this key, for its position.
const Entry* entry_of(const Node* map, std::string_view key) {
  if (map == nullptr) return nullptr;
  for (const Entry& entry : map->entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Fields> Fields::nested(std::string_view key, std::string_view help) {
  State& state = *state_;
  const State::Next marks = state.next;
  const Node* value = state.take({key, help, "map", "", {}, {}});
  if (state.describing()) {
    auto body = std::make_unique<Fields>(state.profile);
    body->state_->sink = &state.descriptions.back().fields;
    body->state_->keys_only_sink = &state.descriptions.back().keys_only;
    body->state_->depth = state.depth + 1;
    return body;
  }
  const bool assumed = value == nullptr;
  if (assumed) {
    // An absent map is read as an empty one, so that its defaults are settled too.
    if (marks.required || marks.optional) return nullptr;
    Node& empty = state.made.emplace_back();
    empty.where = state.where;
    value = &empty;
  }
  if (marks.feature && turns_on(*value)) {
    Node& empty = state.made.emplace_back();
    empty.where = value->where;
    value = &empty;
  }
  const Entry* entry = entry_of(state.node, key);
  if (entry == nullptr) entry = entry_of(state.defaults, key);
  auto body =
      state.body_of({std::string(key), value, entry == nullptr ? value->where : entry->where});
  body->state_->assumed = assumed;
  state.adopt(*body, key, "", false);
  return body;
}

std::unique_ptr<Fields> Fields::State::body_of(const Item& item) const {
  auto body = std::make_unique<Fields>(*item.body, nullptr, item.name, profile, *diagnostics);
  body->state_->where = item.where;
  return body;
}

std::optional<Fields::State::Item> Fields::State::item_of(const Node& value, std::string_view key,
                                                          Names names) {
  if (value.kind == Node::Kind::text) {
    Node& empty = made.emplace_back();
    empty.where = value.where;
    return Item{value.text, &empty, value.where};
  }
  if (value.kind != Node::Kind::map || value.entries.empty()) {
    const std::vector<std::string> candidates(names.begin(), names.end());
    wrong(value, key, "one of " + joined(candidates));
    return std::nullopt;
  }
  const Entry& first = value.entries[0];
  if (value.entries.size() > 1) {
    refuse_second(value, key, names);
    return std::nullopt;
  }
  return Item{first.key, &first.value, first.where};
}

void Fields::State::refuse_second(const Node& value, std::string_view key, Names names) const {
  const std::string& first = value.entries[0].key;
  const Entry& second = value.entries[1];
  const bool is_member = std::find(names.begin(), names.end(), second.key) != names.end();
  const std::string text =
      is_member ? "' and '" + second.key + "'; keep one of them"
                : "' with '" + second.key + "' next to it; its keys belong in its own map";
  diagnostics->error(second.where,
                     "'" + std::string(key) + "' takes one member, found '" + first + text);
}

std::optional<Fields::Member> Fields::member(std::string_view key, Names names) {
  State& state = *state_;
  const Node* value = state.take({key, "", "one of", "", {}, {}});
  if (value == nullptr) return std::nullopt;
  const auto item = state.item_of(*value, key, names);
  if (!item) return std::nullopt;
  const auto index = state.index_of(*value, item->name, item->where, key, names);
  if (!index) return std::nullopt;
  auto body = state.body_of(*item);
  state.adopt(*body, key, item->name, false);
  return Member{*index, std::move(body)};
}

bool Fields::members(std::string_view key, Names names, std::vector<Member>& out) {
  State& state = *state_;
  const Node* value = state.take({key, "", "list of members", "", {}, {}});
  if (value == nullptr) return false;
  if (value->kind != Node::Kind::list) {
    state.wrong(*value, key, "a list of members");
    return false;
  }
  for (const Node& node : value->items) {
    const auto item = state.item_of(node, key, names);
    if (!item) continue;
    const auto index = state.index_of(node, item->name, item->where, key, names);
    if (!index) continue;
    out.push_back({*index, state.body_of(*item)});
    state.adopt(*out.back().fields, key, item->name, true);
  }
  return true;
}

std::size_t Fields::selected(std::string_view key, Names names) {
  State& state = *state_;
  const Node* value = state.take({key, "", "selected", "", {}, {}});
  std::optional<std::size_t> index;
  if (value != nullptr && value->kind == Node::Kind::text) {
    index = state.index_of(*value, value->text, value->where, key, names);
  } else if (value != nullptr) {
    const std::vector<std::string> candidates(names.begin(), names.end());
    state.wrong(*value, key, "one of " + joined(candidates));
  } else if (!state.assumed) {
    state.report_misspelt(key);
    state.report_missing();
  }
  if (index) state.settle(key, *value);
  // Without the member its keys are unknown, so finish() checks none.
  state.unknown_member = !index.has_value();
  return index.value_or(names.size());
}

bool Fields::begin_family(std::string_view key, std::string_view help, FamilyForm form,
                          const std::string& default_text) {
  const std::string type = form == FamilyForm::list       ? "list of members"
                           : form == FamilyForm::selected ? "selected"
                                                          : "one of";
  state_->take({key, help, type, default_text, {}, {}});
  return state_->depth < kDescribedDepth;
}

std::unique_ptr<Fields> Fields::family_member(std::string_view name, std::string_view help) {
  std::vector<FieldDescription::Member>& members = state_->descriptions.back().members;
  members.push_back({std::string(name), std::string(help), {}});
  auto body = std::make_unique<Fields>(state_->profile);
  body->state_->sink = &members.back().fields;
  body->state_->depth = state_->depth + 1;
  return body;
}

}  // namespace trainyard::config

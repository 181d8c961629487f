#include "config/fields.h"

#include <algorithm>

#include "config/arithmetic.h"
#include "config/fields_state.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

// Reads the value of a declaration, or describes it.
template <class State, class T>
void read_field(State& state, Declaration declaration, T& out) {
  if (state.describing()) declaration.default_text = written(out);
  const bool optional = state.next.optional;
  const bool absent_is_empty = state.next.without_default;
  const std::string wanted(state.next.wanted);
  const Node* value = state.take(declaration);
  if (value == nullptr) {
    if (state.describing()) return;
    // A null that clears an optional is settled as null.
    const bool cleared = optional && state.value_of(declaration.key) != nullptr;
    if (cleared) return state.settle(declaration.key, {});
    if (!absent_is_empty) state.settle(declaration.key, node_of(out));
    return;
  }
  if (const Node* fault = read_value(*value, declaration.limits, out)) {
    if (!wanted.empty()) return state.wrong(*fault, declaration.key, wanted);
    state.wrong(*fault, declaration.key, wanted_text(declaration.type, declaration.limits),
                value_hint(declaration.type, *fault));
    return;
  }
  state.settle(declaration.key, node_of(out));
}

std::vector<std::string> strings_of(std::span<const std::string_view> words) {
  return {words.begin(), words.end()};
}

/// `true` and `false` are words that YAML reads as truth values.
Node word_node(std::string_view word) {
  return word == "true" || word == "false" ? boolean_node(word == "true")
                                           : node_of(std::string(word));
}

}  // namespace

Fields::Fields() : state_(std::make_unique<State>()) {}

Fields::Fields(const Node& node, const Node* defaults, std::string what, Profile profile,
               Diagnostics& diagnostics)
    : Fields() {
  state_->node = &node;
  if (defaults != nullptr && defaults->kind == Node::Kind::map) state_->defaults = defaults;
  state_->what = std::move(what);
  state_->profile = profile;
  state_->diagnostics = &diagnostics;
  state_->where = node.where;
  state_->positional = node.kind != Node::Kind::map && node.kind != Node::Kind::null;
}

Fields::Fields(Profile profile) : Fields() { state_->profile = profile; }

Fields::~Fields() = default;

Profile Fields::profile() const { return state_->profile; }

bool Fields::describing() const { return state_->describing(); }

Position Fields::where(std::string_view key) const {
  const Node* value = key.empty() ? nullptr : state_->value_of(key);
  return value == nullptr ? state_->where : value->where;
}

Fields::Presence Fields::presence(std::string_view key) const {
  const Node* value = state_->value_of(key);
  if (value == nullptr) return Presence::absent;
  return value->kind == Node::Kind::null ? Presence::null : Presence::given;
}

bool Fields::given(std::string_view key) const { return presence(key) == Presence::given; }

void Fields::error(std::string_view key, const std::string& text) {
  if (!describing()) state_->diagnostics->error(where(key), text);
}

bool Fields::keys_only(std::string_view example) {
  if (describing()) {
    if (state_->keys_only_sink != nullptr) *state_->keys_only_sink = true;
    return true;
  }
  if (!state_->positional) return true;
  state_->wrong(*state_->node, state_->what, "a map of its keys, as in " + std::string(example));
  state_->unknown_member = true;
  return false;
}

void Fields::next_is_required() { state_->next.required = true; }

void Fields::next_is_optional(bool without_default) {
  state_->next.optional = true;
  state_->next.without_default = without_default;
}

void Fields::next_is_rest() { state_->next.rest = true; }

void Fields::next_is_others() { state_->next.others = true; }

std::vector<std::string> Fields::other_keys() const {
  std::vector<std::string> absent, keys;
  for (const std::string& key : state_->declared) {
    if (!given(key)) absent.push_back(key);
  }
  for (const Node* map : {state_->node, state_->defaults}) {
    if (map == nullptr || map->kind != Node::Kind::map) continue;
    for (const Entry& entry : map->entries) {
      const bool known = std::ranges::find(state_->declared, entry.key) != state_->declared.end() ||
                         std::ranges::find(keys, entry.key) != keys.end();
      const bool misspelt =
          entry.value.kind != Node::Kind::map && !nearest(entry.key, absent).empty();
      if (!known && !misspelt) keys.push_back(entry.key);
    }
  }
  return keys;
}

bool Fields::is_off(std::string_view key) {
  state_->next.feature = true;
  const Node* value = state_->value_of(key);
  if (value == nullptr || !turns_off(*value)) return false;
  state_->next = {};
  state_->declared.emplace_back(key);
  state_->settle(key, boolean_node(false));
  return true;
}

Fields& Fields::saying(std::string_view wanted) {
  state_->next.wanted = wanted;
  return *this;
}

template <class T>
requires(!value_type<T>().empty()) void Fields::field(std::string_view key, T& out,
                                                      std::string_view help, Limits limits) {
  read_field(*state_, {key, help, std::string(value_type<T>()), "", limits, {}}, out);
}
template void Fields::field(std::string_view, std::int64_t&, std::string_view, Limits);
template void Fields::field(std::string_view, double&, std::string_view, Limits);
template void Fields::field(std::string_view, bool&, std::string_view, Limits);
template void Fields::field(std::string_view, std::string&, std::string_view, Limits);
template void Fields::field(std::string_view, Pair&, std::string_view, Limits);
template void Fields::field(std::string_view, std::vector<std::int64_t>&, std::string_view, Limits);
template void Fields::field(std::string_view, std::vector<double>&, std::string_view, Limits);
template void Fields::field(std::string_view, std::vector<std::string>&, std::string_view, Limits);
template void Fields::field(std::string_view, std::vector<std::vector<double>>&, std::string_view,
                            Limits);

void Fields::field(std::string_view key, FilePath& out, std::string_view help) {
  const Node* value = state_->take({key, help, "text", written(out.string()), {}, {}});
  if (describing()) return;
  if (value != nullptr && value->kind != Node::Kind::text) {
    return state_->wrong(*value, key, wanted_text("text", {}), value_hint("text", *value));
  }
  const Node typed = value == nullptr ? node_of(out.string()) : *value;
  out = {};
  if (!typed.text.empty()) {
    out = file_path(typed.where, typed.text, state_->path_of(key), state_->file());
  }
  Node settled = node_of(out.string());
  settled.typed_path = typed.typed_path.empty() ? typed.text : typed.typed_path;
  state_->settle(key, std::move(settled));
}

void Fields::field(std::string_view key, Node& out, std::string_view help) {
  if (const Node* value = state_->take({key, help, "tree", "", {}, {}})) out = *value;
  if (!describing()) state_->settle(key, out);
}

void Fields::field_word(std::string_view key, std::size_t& index, std::string_view help,
                        Names words) {
  const std::string default_text = index < words.size() ? std::string(words[index]) : "";
  const bool absent_is_empty = state_->next.without_default;
  const Node* value = state_->take({key, help, "word", default_text, {}, strings_of(words)});
  if (value != nullptr) {
    const auto found = state_->index_of(*value, value->text, value->where, key, words);
    if (found) index = *found;
  }
  const bool settled = value != nullptr || !absent_is_empty;
  if (!describing() && settled && index < words.size()) {
    state_->settle(key, word_node(words[index]));
  }
}

void Fields::word_or_pair(std::string_view key, std::optional<std::size_t>& word, Pair& pair,
                          Names words, std::string_view help, Limits limits) {
  const std::string default_text = word ? std::string(words[*word]) : written(pair);
  const Node* value =
      state_->take({key, help, "word or pair", default_text, limits, strings_of(words)});
  if (describing()) return;
  if (value != nullptr && value->kind == Node::Kind::text) {
    const auto found = state_->index_of(*value, value->text, value->where, key, words);
    if (found) word = *found;
  } else if (value != nullptr) {
    if (const Node* fault = read_value(*value, limits, pair)) {
      state_->wrong(*fault, key, wanted_text("pair", limits), value_hint("pair", *fault));
      return;
    }
    word.reset();
  }
  state_->settle(key, word ? word_node(words[*word]) : node_of(pair));
}

void Fields::finish() {
  State& state = *state_;
  if (state.finished) return;
  state.finished = true;
  if (state.describing()) {
    if (state.sink != nullptr) *state.sink = std::move(state.descriptions);
    return;
  }
  if (state.assumed && !state.missing.empty()) return;
  state.settle_in_parent();
  if (state.unknown_member) return;
  if (state.node->kind == Node::Kind::map) state.report_unknown(*state.node);
  if (state.defaults != nullptr) state.report_unknown(*state.defaults);
  if (state.positional) state.report_surplus();
  state.report_missing();
}

const Node& Fields::settled() const { return state_->settled; }

const std::vector<FieldDescription>& Fields::descriptions() const { return state_->descriptions; }

std::string_view name_of(Profile profile) { return word_of(profile); }

std::optional<Profile> profile_named(std::string_view name) {
  for (const Word<Profile>& word : words(Profile{})) {
    if (word.word == name) return word.value;
  }
  return std::nullopt;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const Word<Profile>& word : words(Profile{})) names.emplace_back(word.word);
  return names;
}

}  // namespace trainyard::config

#include "graph/words.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "graph/network_input.h"
#include "ops/joins.h"

namespace trainyard {
namespace {

constexpr std::array<std::string_view, 3> kStructures{"act", "repeat", "for"};
constexpr std::array<std::string_view, 4> kModifiers{"if", "as", "from", "share"};
constexpr std::array<std::string_view, 10> kExpressionWords{"and", "or",  "not", "if",   "else",
                                                            "min", "max", "int", "true", "false"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

using config::FieldDescription;

FieldDescription described(std::string key, std::string type, std::string help) {
  FieldDescription field;
  field.key = std::move(key);
  field.type = std::move(type);
  field.help = std::move(help);
  return field;
}

std::vector<FieldDescription> fields_of(const config::Kind<Op>& op, config::Profile profile) {
  config::Fields fields(profile);
  (void)op.read(fields);
  return fields.descriptions();
}

FieldDescription describe_profile(config::Profile profile) {
  FieldDescription field =
      described("profile", "word", "framework whose conventions give the layers' defaults");
  field.words = config::profile_names();
  field.default_text = config::name_of(profile);
  return field;
}

FieldDescription describe_defaults(config::Profile profile) {
  FieldDescription field =
      described("defaults", "map", "keys for all layers of a type; explicit keys win");
  field.keys_only = true;
  for (const config::Kind<Op>& op : op_kinds()) {
    FieldDescription type = described(std::string(op.name), "map", std::string(op.help));
    type.fields = fields_of(op, profile);
    type.keys_only = true;
    for (FieldDescription& key : type.fields) key.required = false;
    if (!type.fields.empty()) field.fields.push_back(std::move(type));
  }
  return field;
}

std::vector<FieldDescription> describe_repeat() {
  FieldDescription times = described("times", "integer", "number of repetitions");
  times.required = times.has_minimum = true;
  FieldDescription layers = described("layers", "items", "layers to repeat");
  layers.required = true;
  return {times, layers};
}

FieldDescription describe_layers(config::Profile profile) {
  FieldDescription field =
      described("layers", "list of members",
                "the layers in order, each fed by the one before; blocks by name");
  field.required = true;
  field.open = true;
  for (const config::Kind<Op>& op : op_kinds()) {
    std::vector<FieldDescription> keys = fields_of(op, profile);
    if (joins_branches(op.name)) {
      keys = {described("branches", "branches",
                        "lists of layers; an empty one passes the input through")};
      keys[0].rest = true;
    }
    field.members.push_back({std::string(op.name), std::string(op.help), std::move(keys)});
  }
  field.members.push_back(
      {"act", "the layer of this name, or none", {described("name", "text", "relu, none, ...")}});
  field.members.push_back({"repeat", "the same layers several times", describe_repeat()});
  field.members.push_back({"for",
                           "layers once for each value of a variable; takes `layers` next to it",
                           {described("values", "tree", "{variable: list}")}});
  field.adjacent_keys = {
      described("if", "boolean", "the item is included if this is true"),
      described("as", "text", "name of the item's output, for a later `from`"),
      described("from", "tree", "name or list of names to read instead of the item before"),
      described("share", "text", "name or path of an earlier layer whose parameters it uses"),
      described("layers", "items", "body of `for`")};
  return field;
}

}  // namespace

const config::Kind<Op>* find_op(std::string_view name) {
  for (const config::Kind<Op>& kind : op_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

bool joins_branches(std::string_view name) {
  return std::ranges::find(join_kinds(), name, &config::Kind<Op>::name) != join_kinds().end();
}
bool is_structure(std::string_view name) { return contains(kStructures, name); }
bool is_modifier(std::string_view name) { return contains(kModifiers, name); }
bool is_expression_word(std::string_view name) { return contains(kExpressionWords, name); }

bool is_identifier(std::string_view name) {
  return !name.empty() && begins_name(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return begins_name(c) || is_digit(c); });
}

std::vector<std::string> item_words() {
  std::vector<std::string> words;
  for (const config::Kind<Op>& kind : op_kinds()) words.emplace_back(kind.name);
  for (const std::string_view word : kStructures) words.emplace_back(word);
  return words;
}

std::vector<std::string> keys_of(const config::Kind<Op>& op, config::Profile profile) {
  config::Fields fields(profile);
  (void)op.read(fields);
  std::vector<std::string> keys;
  for (const config::FieldDescription& field : fields.descriptions()) keys.push_back(field.key);
  return keys;
}

std::vector<FieldDescription> describe_network(config::Profile profile) {
  return {describe_profile(profile),
          described("include", "tree", "file of blocks, or list of files, relative to this one"),
          described("vars", "tree", "variables for expressions: names with scalars, lists or maps"),
          describe_input(profile),
          describe_defaults(profile),
          described("blocks", "tree", "your own layers: {name: {args: [f, k=3], layers: [...]}}"),
          described("outputs", "list of texts",
                    "names of layers (as:) that are outputs besides the last, for more losses"),
          describe_layers(profile)};
}

}  // namespace trainyard

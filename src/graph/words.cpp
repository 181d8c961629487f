#include "graph/words.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/schema.h"
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

}  // namespace trainyard

// The words of the network language, the rules for names, and the language for `train schema`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "config/schema.h"
#include "ops/op.h"

namespace trainyard {

/// The op of this YAML name, or null.
[[nodiscard]] const config::Kind<Op>* find_op(std::string_view name);
/// True for the ops that join branches, as add and concat do.
[[nodiscard]] bool joins_branches(std::string_view name);
/// True for act, repeat, for: items that are not layers themselves.
[[nodiscard]] bool is_structure(std::string_view name);
/// True for if, as, from, share: keys next to the name of an item.
[[nodiscard]] bool is_modifier(std::string_view name);
/// Letters, digits and '_', not beginning with a digit.
[[nodiscard]] bool is_identifier(std::string_view name);
/// True for words that expressions reserve: and, or, not, if, else, min, max, int, true, false.
[[nodiscard]] bool is_expression_word(std::string_view name);
/// Names of all ops and structures: the valid item names besides the file's blocks.
[[nodiscard]] std::vector<std::string> item_words();
/// The keys of an op, in order.
[[nodiscard]] std::vector<std::string> keys_of(const config::Kind<Op>& op, config::Profile profile);

/// profile, vars, input, defaults (the keys of every op), blocks, outputs, layers (the ops and
/// structures; blocks add names).
[[nodiscard]] std::vector<config::FieldDescription> describe_network(
    config::Profile profile = config::Profile::keras2);

}  // namespace trainyard

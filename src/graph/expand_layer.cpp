// The parts of Expander for one layer: condition, inputs, name, attributes, shapes.
#include <algorithm>
#include <cctype>

#include "graph/expand.h"
#include "graph/masks.h"
#include "graph/words.h"

namespace trainyard {
namespace {

using config::describe;
using config::Diagnostics;
using Kind = config::Node::Kind;

/// Value names may contain dots, so that an expanded network can use its paths.
bool is_value_name(const config::Node& node) {
  if (node.kind != Kind::text || node.text.empty()) return false;
  return std::all_of(node.text.begin(), node.text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

/// Names in a `from:`: one text or a list of texts.
std::vector<const config::Node*> names_in(const config::Node& from) {
  std::vector<const config::Node*> names;
  if (from.kind != Kind::list) return {&from};
  for (const config::Node& item : from.items) names.push_back(&item);
  return names;
}

}  // namespace

bool Expander::holds(const Item& item, const ListContext& context, bool& condition) {
  config::Node value;
  const bool evaluated = reports_nothing(diagnostics_, [&](Diagnostics& d) {
    value = config::resolved(*item.condition, *context.scope, d);
  });
  if (!evaluated) return false;
  if (value.kind != Kind::boolean) {
    diagnostics_.error(item.condition->where,
                       "if: expected true or false, found " + describe(value));
    return false;
  }
  condition = value.boolean;
  return true;
}

std::vector<ValueId> Expander::inputs_of(const Item& item, const ListContext& context,
                                         ValueId value) {
  if (item.from == nullptr) return {value};
  std::vector<ValueId> inputs;
  for (const config::Node* name : names_in(*item.from)) {
    const auto found = context.names->find(name->text);
    if (found != context.names->end()) {
      inputs.push_back(found->second.value);
      continue;
    }
    std::vector<std::string> known;
    for (const auto& [word, named] : *context.names) known.push_back(word);
    diagnostics_.error(name->where,
                       "from: no earlier layer is named " +
                           (name->kind == Kind::text ? "'" + name->text + "'" : describe(*name)) +
                           " by as: here" + config::suggestion(name->text, known));
    inputs.push_back(kUnknown);
  }
  if (inputs.empty()) {
    diagnostics_.error(item.from->where, "from: expected a name or a list of names, found none");
    inputs.push_back(kUnknown);
  }
  return inputs;
}

void Expander::bind_name(const Item& item, const ListContext& context, ValueId value) {
  if (item.as == nullptr) return;
  if (!is_value_name(*item.as)) {
    diagnostics_.error(item.as->where,
                       "as: expected a name of letters, digits, '_' and '.', "
                       "found " +
                           describe(*item.as));
    return;
  }
  const auto earlier = context.names->find(item.as->text);
  if (earlier != context.names->end() && earlier->second.value == graph_.mask && graph_.mask >= 0) {
    diagnostics_.error(item.as->where,
                       "as: the name 'mask' is that of the steps that lengths "
                       "leave; choose another");
    return;
  }
  // The same item again is a repetition: the name moves to the newest value.
  if (earlier != context.names->end() && !(earlier->second.where == item.as->where)) {
    diagnostics_.error(item.as->where, "as: the name '" + item.as->text +
                                           "' is already used on line " +
                                           std::to_string(earlier->second.where.line));
    return;
  }
  const bool has_path = item.kind == Item::Kind::op || item.kind == Item::Kind::block ||
                        item.kind == Item::Kind::join;
  (*context.names)[item.as->text] = {value, has_path ? context.paths->last() : "", item.as->where};
}

/// The path of the item that `share:` names, by `as:` or by its path; "" after an error.
std::string Expander::owner_of(const Item& item, const ListContext& context) {
  const std::string& name = item.share->text;
  std::vector<std::string> known;
  for (const auto& [word, named] : *context.names) {
    if (!parameter_layers_.any_at(named.path)) continue;
    if (word == name) return named.path;
    known.push_back(word);
  }
  if (context.names->count(name) == 0 && parameter_layers_.any_at(name)) return name;
  diagnostics_.error(item.share->where,
                     "share: expected the name (as:) or the path of an earlier layer with "
                     "parameters, found " +
                         describe(*item.share) + config::suggestion(name, known));
  return "";
}

ValueId Expander::append(const Layer& layer, const ListContext& context) {
  const config::Diagnostics::LayerScope in_layer(diagnostics_, layer.path);
  const auto defaults = file_.defaults.find(layer.name);
  config::Node value;
  value.where = layer.where;
  const bool evaluated = reports_nothing(diagnostics_, [&](Diagnostics& d) {
    if (layer.value == nullptr || layer.value->kind == Kind::null) return;
    value = config::resolved(*layer.value, *context.scope, d);
  });
  if (!evaluated) return kUnknown;
  OpPtr op;
  const bool read = reports_nothing(diagnostics_, [&](Diagnostics& d) {
    config::Fields fields(value, defaults == file_.defaults.end() ? nullptr : &defaults->second,
                          layer.name, file_.profile, d);
    op = find_op(layer.name)->read(fields);
    fields.finish();
  });
  const bool known =
      std::find(layer.inputs.begin(), layer.inputs.end(), kUnknown) == layer.inputs.end();
  if (!read || !known) return kUnknown;
  TwoWays ways = op->two_ways();
  return ways.forwards == nullptr ? infer_and_append(layer, context, std::move(op))
                                  : append_both(layer, context, std::move(ways));
}

/// The layers PATH.forward and PATH.backward of the same inputs, and at PATH their join.
ValueId Expander::append_both(const Layer& layer, const ListContext& context, TwoWays ways) {
  Layer one = layer, other = layer;
  one.path += ".forward";
  other.path += ".backward";
  const ValueId forward = infer_and_append(one, context, std::move(ways.forwards));
  if (forward == kUnknown) return kUnknown;
  const ValueId backward = infer_and_append(other, context, std::move(ways.backwards));
  if (backward == kUnknown) return kUnknown;
  return append({std::string(ways.join), layer.path, layer.where, nullptr, {forward, backward}},
                context);
}

/// False after an error.
bool Expander::share_parameters(Node& node, const ListContext& context) {
  if (context.share != nullptr) {
    const std::string failure = parameter_layers_.give(*context.share, node);
    if (!failure.empty()) {
      diagnostics_.error(context.share->name->where, failure);
      return false;
    }
    ++context.share->layers;
  }
  parameter_layers_.add(node);
  return true;
}

/// Why a layer may not read its inputs: tokens where it reads numbers, or numbers where it reads
/// tokens; "" if it may.
std::string Expander::token_fault(const Node& node) const {
  const Contract contract = node.op->contract();
  if (contract.alias_forward) return "";
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool tokens = graph_.values[node.inputs[i]].type == DType::i32;
    if (contract.masked && i + 1 == node.inputs.size()) {
      if (tokens) continue;
      return "reads the network's tokens as its mask, but its last input is numbers; begin with "
             "{identity: , as: tokens} and write from: [..., tokens]";
    }
    if (tokens && without_aliases(graph_, node.inputs[i]) == graph_.mask) {
      return "reads the mask that lengths make as its input; only layers with 'mask: true' read "
             "it, as their last input";
    }
    if (tokens && contract.vocabulary == 0) {
      return "reads numbers, but its input is the network's tokens; begin with embedding or "
             "one_hot";
    }
    if (!tokens && contract.vocabulary > 0) {
      return "reads tokens, but its input is numbers; it comes first in a network with input: "
             "{tokens: ..., vocabulary: ...}";
    }
    if (tokens && contract.vocabulary < graph_.vocabulary) {
      return "knows " + std::to_string(contract.vocabulary) +
             " tokens, but the network's input has a vocabulary of " +
             std::to_string(graph_.vocabulary) + "; leave 'vocabulary' out";
    }
  }
  return "";
}

ValueId Expander::infer_and_append(const Layer& layer, const ListContext& context, OpPtr op) {
  Node node;
  node.path = layer.path;
  node.op = std::move(op);
  node.inputs = layer.inputs;
  node.where = layer.where;
  node.called_from = context.called_from;
  if (node.op->arity() == 1 && node.inputs.size() != 1) {
    diagnostics_.error(layer.from, takes_one(node.inputs.size()));
    return kUnknown;
  }
  std::string failure = give_mask(graph_, node);
  if (failure.empty()) failure = token_fault(node);
  if (failure.empty()) failure = infer_signature(graph_, node);
  if (failure.empty()) failure = order_fault(graph_, node);
  if (!failure.empty()) {
    diagnostics_.error(layer.where, failure);
    return kUnknown;
  }
  if (!node.signature.parameters.empty() && !share_parameters(node, context)) return kUnknown;
  const NodeId id = append_inferred(graph_, std::move(node));
  const Node& appended = graph_.nodes[static_cast<std::size_t>(id)];
  pass_mask(graph_, appended);
  return appended.outputs.at(0);
}

}  // namespace trainyard

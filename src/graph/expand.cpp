#include "graph/expand.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "graph/masks.h"
#include "graph/words.h"

namespace trainyard {

namespace {

using config::describe;
using config::Diagnostics;
using Kind = config::Node::Kind;

/// "weight [16, 3, 3, 3], bias [16]".
std::string text_of(const std::vector<ParameterSpec>& parameters) {
  std::string text;
  for (const ParameterSpec& parameter : parameters) {
    text += (text.empty() ? "" : ", ") + parameter.name + " " + parameter.shape.text();
  }
  return text;
}

bool same_shapes(const std::vector<ParameterSpec>& a, const std::vector<ParameterSpec>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.shape == y.shape;
  });
}

using config::Diagnostics;
using Kind = config::Node::Kind;

void bind_list(const config::Node& values, const Item& call, const Block& block,
               config::Scope& bound, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < values.items.size(); ++i) {
    if (i < block.arguments.size()) {
      bound[block.arguments[i].name] = values.items[i];
      continue;
    }
    diagnostics.error(values.items[i].where,
                      call.name + ": takes " + std::to_string(block.arguments.size()) +
                          " arguments, found " + std::to_string(values.items.size()));
    return;
  }
}

void bind_map(const config::Node& values, const Item& call, const Block& block,
              config::Scope& bound, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const BlockArgument& argument : block.arguments) names.push_back(argument.name);
  for (const config::Entry& entry : values.entries) {
    if (std::find(names.begin(), names.end(), entry.key) != names.end()) {
      bound[entry.key] = entry.value;
      continue;
    }
    diagnostics.error(entry.where, call.name + ": unknown argument '" + entry.key + "'" +
                                       config::suggestion(entry.key, names));
    // The misspelt argument counts as given: one message is enough.
    const std::string meant = config::nearest(entry.key, names);
    if (!meant.empty()) bound.emplace(meant, entry.value);
  }
}

/// Matches the value of a block call (nothing, a scalar, a list or a map; evaluated in `caller`)
/// with the block's arguments, and returns the scope of its body: the file's variables and the
/// arguments. Surplus, unknown and missing arguments are reported.
config::Scope bind_arguments(const Item& call, const NetworkFile& file, const config::Scope& caller,
                             Diagnostics& diagnostics) {
  const Block& block = file.blocks.at(call.name);
  config::Node values;
  if (call.value != nullptr) values = config::resolved(*call.value, caller, diagnostics);
  if (values.is_scalar() && values.kind != Kind::null) {
    config::Node list;
    list.kind = Kind::list;
    list.items.push_back(values);
    values = list;
  }
  config::Scope bound;
  if (values.kind == Kind::list) bind_list(values, call, block, bound, diagnostics);
  if (values.kind == Kind::map) bind_map(values, call, block, bound, diagnostics);

  config::Scope scope = file.variables;
  for (const BlockArgument& argument : block.arguments) {
    const auto given = bound.find(argument.name);
    if (given != bound.end()) {
      scope[argument.name] = given->second;
    } else if (argument.fallback) {
      scope[argument.name] = config::resolved(*argument.fallback, scope, diagnostics);
    } else {
      diagnostics.missing(call.where, call.name + ": missing argument '" + argument.name + "'");
      scope[argument.name] = config::Node{};
    }
  }
  return scope;
}

}  // namespace

ValueId Expander::run(ValueId input) {
  PathScope paths;
  ItemNames names;
  if (graph_.mask >= 0) names[kMaskName] = {.value = graph_.mask, .path = "", .where = {}};
  const ValueId last = expand_list(file_.layers, {&file_.variables, &paths, &names, {}, 0}, input);
  if (diagnostics_.empty()) find_outputs(names);
  return last;
}

void Expander::find_outputs(const ItemNames& names) {
  std::vector<std::string> known;
  for (const auto& [word, named] : names) known.push_back(word);
  for (const config::Node& name : file_.outputs.items) {
    const auto found = names.find(name.text);
    if (found == names.end()) {
      diagnostics_.error(name.where,
                         "outputs: no layer of the network is named " +
                             (name.kind == Kind::text ? "'" + name.text + "'" : describe(name)) +
                             " by as:" + config::suggestion(name.text, known));
    } else if (std::ranges::find(graph_.outputs, name.text, &NamedOutput::name) !=
               graph_.outputs.end()) {
      diagnostics_.error(name.where, "outputs: '" + name.text + "' is listed twice");
    } else {
      graph_.outputs.push_back({name.text, found->second.value});
    }
  }
}

bool Expander::stopped(const Position& where) {
  if (stopped_) return true;
  ++visited_;
  if (static_cast<std::int64_t>(graph_.nodes.size()) < kMostLayers && visited_ <= kMostItems) {
    return false;
  }
  diagnostics_.error(where,
                     "the network expands to more than 100,000 layers; use fewer "
                     "repetitions");
  stopped_ = true;
  return true;
}

ValueId Expander::expand_list(const config::Node& list, const ListContext& context, ValueId value) {
  for (const config::Node& node : list.items) {
    if (stopped(node.where)) return kUnknown;
    value = expand_node(node, context, value);
  }
  return value;
}

ValueId Expander::expand_node(const config::Node& node, const ListContext& context, ValueId value) {
  Item item;
  const bool well_formed =
      reports_nothing(diagnostics_, [&](Diagnostics& d) { item = read_item(node, file_, d); });
  bool condition = true;
  if (item.condition != nullptr && !holds(item, context, condition)) return kUnknown;
  if (!condition) return value;
  const ValueId result =
      well_formed ? expand_item(item, context, inputs_of(item, context, value)) : kUnknown;
  bind_name(item, context, result);
  return result;
}

ValueId Expander::expand_item(const Item& item, const ListContext& context,
                              std::vector<ValueId> inputs) {
  if (item.kind != Item::Kind::act) return expand_named(item, context, std::move(inputs));
  return expand_act(item, context, std::move(inputs));
}

std::string takes_one(std::size_t inputs) {
  return "takes one input, found " + std::to_string(inputs) +
         " in 'from'; join them with add, concat, multiply, average or maximum";
}

ValueId Expander::expand_named(const Item& item, const ListContext& context,
                               std::vector<ValueId> inputs) {
  const bool of_many = item.kind == Item::Kind::join || item.kind == Item::Kind::op;
  if (!of_many && inputs.size() != 1) {
    diagnostics_.error(item.from->where, item.name + ": " + takes_one(inputs.size()));
    return kUnknown;
  }
  if (item.kind == Item::Kind::repeat) return expand_repeat(item, context, inputs[0]);
  if (item.kind == Item::Kind::loop) return expand_loop(item, context, inputs[0]);
  const std::string path = context.paths->next(item.name);
  return item.share == nullptr ? expand_at(path, item, context, std::move(inputs))
                               : expand_sharing(path, item, context, std::move(inputs));
}

ValueId Expander::expand_at(const std::string& path, const Item& item, const ListContext& context,
                            std::vector<ValueId> inputs) {
  if (item.kind == Item::Kind::join) return expand_join(path, item, context, std::move(inputs));
  if (item.kind == Item::Kind::block) return expand_block(path, item, context, inputs[0]);
  const Position from = item.from == nullptr ? item.where : item.from->where;
  return append({item.name, path, item.where, item.value, std::move(inputs), from}, context);
}

ValueId Expander::expand_sharing(const std::string& path, const Item& item,
                                 const ListContext& context, std::vector<ValueId> inputs) {
  Share share{.name = item.share, .own = path, .owner = owner_of(item, context)};
  ListContext inside = context;
  inside.share = share.owner.empty() ? nullptr : &share;
  const ValueId value = expand_at(path, item, inside, std::move(inputs));
  if (inside.share != nullptr && value != kUnknown && share.layers == 0) {
    diagnostics_.error(item.share->where, "share: '" + path + "' has no parameters to share");
  }
  return value;
}

ValueId Expander::expand_act(const Item& item, const ListContext& context,
                             std::vector<ValueId> inputs) {
  config::Node name;
  const bool evaluated =
      item.value != nullptr && reports_nothing(diagnostics_, [&](Diagnostics& d) {
        name = config::resolved(*item.value, *context.scope, d);
      });
  if (item.value != nullptr && !evaluated) return kUnknown;
  if (name.kind == Kind::text && name.text == "none") return inputs.at(0);
  if (name.kind != Kind::text) {
    diagnostics_.error(item.where, "act: expected a layer's name or none, found " + describe(name));
    return kUnknown;
  }
  const Item named{.kind = item_kind(name.text, file_),
                   .name = name.text,
                   .where = item.where,
                   .from = item.from,
                   .share = item.share};
  if (named.kind == Item::Kind::malformed) {
    diagnostics_.error(item.value->where, "act: " + unknown_layer(name.text, file_));
    return kUnknown;
  }
  if (named.kind != Item::Kind::op && named.kind != Item::Kind::block) {
    diagnostics_.error(
        item.value->where,
        "act: expected a layer without branches or a body, found '" + name.text + "'");
    return kUnknown;
  }
  return expand_named(named, context, std::move(inputs));
}

ValueId Expander::expand_repeat(const Item& item, const ListContext& context, ValueId value) {
  const std::vector<const config::Node*> lists = inner_lists(item, diagnostics_);
  if (lists[0] == nullptr || item.value->find("times") == nullptr) return kUnknown;
  config::Node times;
  const config::Node& written = *item.value->find("times");
  const bool evaluated = reports_nothing(
      diagnostics_, [&](Diagnostics& d) { times = config::resolved(written, *context.scope, d); });
  if (!evaluated) return kUnknown;
  if (times.kind != Kind::integer || times.integer < 0) {
    diagnostics_.error(written.where, "repeat: times: expected an integer of at least 0, found " +
                                          describe(times));
    return kUnknown;
  }
  for (std::int64_t i = 0; i < times.integer && !stopped(item.where); ++i) {
    value = expand_list(*lists[0], context, value);
  }
  return value;
}

ValueId Expander::expand_loop(const Item& item, const ListContext& context, ValueId value) {
  const std::vector<const config::Node*> lists = inner_lists(item, diagnostics_);
  if (lists[0] == nullptr) return kUnknown;
  const bool one = item.value->kind == Kind::map && item.value->entries.size() == 1;
  config::Node values;
  if (one && !reports_nothing(diagnostics_, [&](Diagnostics& d) {
        values = config::resolved(item.value->entries[0].value, *context.scope, d);
      })) {
    return kUnknown;
  }
  if (values.kind != Kind::list || !is_identifier(item.value->entries[0].key)) {
    diagnostics_.error(item.where,
                       "for: expected one variable with a list, as in for: {i: [0, 1]}");
    return kUnknown;
  }
  config::Scope scope = *context.scope;
  ListContext inside = context;
  inside.scope = &scope;
  for (const config::Node& element : values.items) {
    if (stopped(item.where)) return kUnknown;
    scope[item.value->entries[0].key] = element;
    value = expand_list(*lists[0], inside, value);
  }
  return value;
}

ValueId Expander::expand_block(const std::string& path, const Item& item,
                               const ListContext& context, ValueId value) {
  if (context.depth >= kDeepestCalls) {
    diagnostics_.error(item.where, "blocks call each other more than 32 deep here");
    stopped_ = true;
    return kUnknown;
  }
  PathScope paths(path);
  config::Scope scope;
  const bool bound = reports_nothing(diagnostics_, [&](Diagnostics& d) {
    scope = bind_arguments(item, file_, *context.scope, d);
  });
  if (!bound) return kUnknown;
  ItemNames names;
  const Position from = context.called_from.known() ? context.called_from : item.where;
  const Diagnostics::CallScope in_call(diagnostics_, from);
  return expand_list(file_.blocks.at(item.name).layers,
                     {&scope, &paths, &names, from, context.depth + 1, context.share}, value);
}

ValueId Expander::expand_join(const std::string& path, const Item& item, const ListContext& context,
                              std::vector<ValueId> inputs) {
  const std::vector<const config::Node*> lists = inner_lists(item, diagnostics_);
  if (item.value != nullptr && item.value->kind != Kind::list && item.value->kind != Kind::null) {
    return kUnknown;  // reported by inner_lists
  }
  if (!lists.empty() && inputs.size() > 1) {
    diagnostics_.error(item.from->where, item.name +
                                             ": takes branches or a list of names in "
                                             "'from', found both");
    return kUnknown;
  }
  std::vector<ValueId> joined;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    PathScope paths(path + "." + std::to_string(i));
    ListContext inside = context;
    inside.paths = &paths;
    const bool known = lists[i] != nullptr;
    joined.push_back(known ? expand_list(*lists[i], inside, inputs.at(0)) : kUnknown);
  }
  if (lists.empty()) joined = inputs;
  if (joined.size() < 2) {
    diagnostics_.error(item.where, item.name +
                                       ": expected at least two branches, or two names in "
                                       "'from', found " +
                                       std::to_string(lists.size()));
    return kUnknown;
  }
  return append({item.name, path, item.where, nullptr, joined}, context);
}

void ParameterLayers::add(const Node& node) {
  layers_[node.path] = {.type = std::string(node.op->type()),
                        .parameters_of = node.parameters_of,
                        .parameters = node.signature.parameters};
}

bool ParameterLayers::any_at(const std::string& path) const {
  if (layers_.count(path) != 0) return true;
  const auto below = layers_.lower_bound(path + ".");
  return below != layers_.end() && below->first.starts_with(path + ".");
}

std::string ParameterLayers::give(const Share& share, Node& node) const {
  const std::string owner = share.owner + node.path.substr(share.own.size());
  const auto found = layers_.find(owner);
  if (found == layers_.end()) return "share: there is no layer '" + owner + "' with parameters";
  const Layer& layer = found->second;
  const std::vector<ParameterSpec>& own = node.signature.parameters;
  if (layer.type != node.op->type()) {
    return "share: this is a " + std::string(node.op->type()) + ", '" + owner + "' is a " +
           layer.type;
  }
  if (!same_shapes(own, layer.parameters)) {
    return "share: its parameters are " + text_of(own) + ", those of '" + owner + "' are " +
           text_of(layer.parameters);
  }
  if (own != layer.parameters) {
    return "share: its parameters have a different init, l2 or decay from those of '" + owner +
           "'; make them equal";
  }
  node.parameters_of = layer.parameters_of.empty() ? owner : layer.parameters_of;
  return "";
}

std::string PathScope::next(const std::string& name) {
  const std::string own = name + std::to_string(++counts_[name]);
  return last_ = parent_.empty() ? own : parent_ + "." + own;
}

}  // namespace trainyard

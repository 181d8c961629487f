#include "graph/build.h"

#include <algorithm>
#include <map>
#include <utility>

#include "graph/expand.h"
#include "graph/masks.h"
#include "graph/network_file.h"

namespace trainyard {
namespace {

using config::Diagnostics;
using Kind = config::Node::Kind;

/// Records a final softmax or sigmoid.
void note_closing(Graph& graph) {
  if (graph.nodes.empty()) return;
  const Node& last = graph.nodes.back();
  const std::string_view type = last.op->type();
  const auto named = std::ranges::find(graph.outputs, graph.output, &NamedOutput::value);
  const bool closes = named == graph.outputs.end() && last.outputs.size() == 1 &&
                      last.outputs[0] == graph.output && (type == "softmax" || type == "sigmoid");
  if (!closes) return;
  graph.closing_activation = type;
  graph.output_is_logits = false;
}

/// The nodes that an output depends on.
std::vector<bool> reaching_output(const Graph& graph) {
  std::vector<bool> reaches(graph.nodes.size(), false);
  const auto mark = [&](ValueId value) {
    const NodeId producer = graph.values[value].producer;
    if (producer >= 0) reaches[producer] = true;
  };
  mark(graph.output);
  for (const NamedOutput& output : graph.outputs) mark(output.value);
  for (std::size_t id = graph.nodes.size(); id-- > 0;) {
    if (reaches[id]) std::ranges::for_each(graph.nodes[id].inputs, mark);
  }
  return reaches;
}

/// "'a', 'b' and 12 more".
std::string listed(const std::vector<std::string>& paths) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), kMost); ++i) {
    text += (i > 0 ? ", '" : "'") + paths[i] + "'";
  }
  if (paths.size() > kMost) text += " and " + std::to_string(paths.size() - kMost) + " more";
  return text;
}

/// Reports layers that do not reach the output: one error per item of the file.
void refuse_dead_layers(const Graph& graph, Diagnostics& diagnostics) {
  const std::vector<bool> reaches = reaching_output(graph);
  std::vector<std::pair<Position, std::vector<std::string>>> items;
  std::map<std::string, std::size_t> item_at;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    if (reaches[id]) continue;
    const Node& node = graph.nodes[id];
    const Position& where = node.called_from.known() ? node.called_from : node.where;
    const auto [item, added] = item_at.try_emplace(where.text(), items.size());
    if (added) items.push_back({where, {}});
    items[item->second].second.push_back(node.path);
  }
  for (const auto& [where, paths] : items) {
    const bool one = paths.size() == 1;
    diagnostics.error(where, (one ? "layer " : "layers ") + listed(paths) +
                                 (one ? " does" : " do") +
                                 " not reach the network's output; name the output with 'as' and "
                                 "read it with 'from', or delete the item");
  }
}

/// Reports outputs that are the network's own tokens.
void refuse_token_outputs(const Graph& graph, const NetworkFile& file, Diagnostics& diagnostics) {
  std::vector<ValueId> outputs{graph.output};
  for (const NamedOutput& output : graph.outputs) outputs.push_back(output.value);
  const bool tokens = std::ranges::any_of(
      outputs, [&](ValueId output) { return graph.values[output].type == DType::i32; });
  if (!tokens) return;
  diagnostics.error(file.layers.where,
                    "layers: an output of the network is its tokens or its mask themselves; begin "
                    "with embedding or one_hot");
}

/// The map under `key` of `network`, made if absent.
config::Node& child_map(config::Node& network, const std::string& key, const Position& where) {
  if (config::Node* found = network.find(key)) {
    if (found->kind == Kind::null) found->kind = Kind::map;
    return *found;
  }
  config::Node map;
  map.kind = Kind::map;
  map.where = where;
  network.entries.push_back({key, where, map});
  return network.entries.back().value;
}

void set_entry(config::Node& map, const config::Entry& entry) {
  if (config::Node* found = map.find(entry.key)) {
    *found = entry.value;
  } else {
    map.entries.push_back(entry);
  }
}

/// A misspelt `vars` key of a network that has no `vars`, or null.
const config::Entry* misspelt_variables(const config::Node& network) {
  const std::vector<std::string> wanted{"vars"};
  const auto is_near = [&](const config::Entry& entry) {
    return !config::nearest(entry.key, wanted).empty();
  };
  const auto found = std::ranges::find_if(network.entries, is_near);
  return found == network.entries.end() || found->key == wanted[0] ? nullptr : &*found;
}

/// Sets what `over` gives of the variable `name`: single fields of a map, else all of it.
void override_variable(config::Node& own, const config::Entry& over, const std::string& name,
                       Diagnostics& diagnostics) {
  if (own.kind != Kind::map || over.value.kind != Kind::map) {
    own = over.value;
    return;
  }
  std::vector<std::string> fields;
  for (const config::Entry& entry : own.entries) fields.push_back(entry.key);
  for (const config::Entry& entry : over.value.entries) {
    if (config::Node* field = own.find(entry.key)) {
      override_variable(*field, entry, name + "." + entry.key, diagnostics);
      continue;
    }
    diagnostics.error(entry.where, "vars: the network's variable '" + name + "' has no field '" +
                                       entry.key + "'" + config::suggestion(entry.key, fields));
  }
}

void override_variables(config::Node& network, const config::Node& vars, Diagnostics& diagnostics) {
  if (const config::Entry* misspelt = misspelt_variables(network)) {
    diagnostics.error(misspelt->where,
                      "unknown key '" + misspelt->key + "' in 'network'; did you mean 'vars'?");
    return;
  }
  std::vector<std::string> known;
  if (const config::Node* own = network.find("vars")) {
    for (const config::Entry& entry : own->entries) known.push_back(entry.key);
  }
  for (const config::Entry& entry : vars.entries) {
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      diagnostics.error(entry.where, "vars: the network has no variable '" + entry.key + "'" +
                                         config::suggestion(entry.key, known));
      continue;
    }
    override_variable(*network.find("vars")->find(entry.key), entry, entry.key, diagnostics);
  }
}

void override_defaults(config::Node& network, const config::Node& defaults) {
  config::Node& own = child_map(network, "defaults", defaults.where);
  for (const config::Entry& type : defaults.entries) {
    config::Node* found = own.find(type.key);
    if (found == nullptr || found->kind != Kind::map || type.value.kind != Kind::map) {
      set_entry(own, type);
      continue;
    }
    for (const config::Entry& entry : type.value.entries) set_entry(*found, entry);
  }
}

}  // namespace

Graph build_graph(const config::Node& network, const BuildOptions& options) {
  Diagnostics diagnostics;
  const NetworkFile file = read_network_file(network, options.profile, diagnostics);
  const bool expandable = check_items(file, diagnostics);
  Graph graph;
  if (expandable && !file.input.extents.empty()) {
    graph.values.push_back(input_value(file.input, options.batch));
    graph.inputs.push_back(0);
    graph.vocabulary = file.input.vocabulary;
    if (file.input.lengths) add_mask_input(graph);
    graph.output = Expander(file, graph, diagnostics).run(0);
  }
  if (diagnostics.empty() && graph.nodes.empty()) {
    diagnostics.error(file.layers.where, "layers: the network has no layers after expansion");
  }
  if (diagnostics.empty()) refuse_dead_layers(graph, diagnostics);
  if (diagnostics.empty()) refuse_token_outputs(graph, file, diagnostics);
  diagnostics.raise();
  drop_unread_mask(graph);
  note_closing(graph);
  if (options.peel_activation) peel_closing(graph);
  return graph;
}

void peel_closing(Graph& graph) {
  if (graph.output_is_logits) return;
  graph.output = graph.nodes.back().inputs[0];
  graph.output_is_logits = true;
  graph.nodes.pop_back();
  graph.values.pop_back();
}

config::Node with_overrides(const config::Node& network, const config::Node* vars,
                            const config::Node* defaults, Diagnostics& diagnostics) {
  config::Node result = network;
  const auto is_map = [&](const config::Node* node, const std::string& key) {
    if (node == nullptr || node->kind == Kind::null) return false;
    if (node->kind == Kind::map) return true;
    diagnostics.error(node->where, key + ": expected a map, found " + config::describe(*node));
    return false;
  };
  if (is_map(vars, "vars")) override_variables(result, *vars, diagnostics);
  if (is_map(defaults, "defaults")) override_defaults(result, *defaults);
  return result;
}

}  // namespace trainyard

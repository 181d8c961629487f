#include "graph/build.h"

#include <algorithm>

#include "graph/check_items.h"
#include "graph/expand.h"
#include "graph/network_file.h"

namespace trainyard {
namespace {

using config::Diagnostics;
using Kind = config::Node::Kind;

Shape input_shape(const NetworkFile& file, std::int64_t batch) {
  if (file.input.size() == 1) return {batch, file.input[0]};
  return {batch, file.input[0], file.input[1], file.input[2]};
}

/// Takes a closing softmax or sigmoid off, so that the output is what it would read.
void close(Graph& graph, bool peel) {
  if (graph.nodes.empty()) return;
  const Node& last = graph.nodes.back();
  const std::string_view type = last.op->type();
  const bool closes = last.outputs.size() == 1 && last.outputs[0] == graph.output &&
                      (type == "softmax" || type == "sigmoid");
  if (!closes) return;
  graph.closing_activation = type;
  graph.output_is_logits = peel;
  if (!peel) return;
  graph.output = last.inputs[0];
  graph.nodes.pop_back();
  graph.values.pop_back();
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

void override_variables(config::Node& network, const config::Node& vars, Diagnostics& diagnostics) {
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
    set_entry(child_map(network, "vars", vars.where), entry);
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
  if (expandable && !file.input.empty()) {
    graph.values.push_back({input_shape(file, options.batch), -1, DType::f32});
    graph.inputs.push_back(0);
    graph.output = Expander(file, graph, diagnostics).run(0);
  }
  if (diagnostics.empty() && graph.nodes.empty()) {
    diagnostics.error(file.layers.where, "layers: the network holds no layer once expanded");
  }
  diagnostics.raise();
  close(graph, options.peel_activation);
  return graph;
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

#include "run/layer_rules.h"

#include <fnmatch.h>

#include <set>

#include "graph/build.h"
#include "plan/blocks.h"
#include "run/shards.h"

namespace trainyard {
namespace {

using config::describe;
using config::Diagnostics;
using Kind = config::Node::Kind;

/// Paths of the layers with parameters of their own, and of what they stand in.
std::vector<std::string> known_paths(const Graph& graph) {
  std::set<std::string> paths;
  for (const Node& node : graph.nodes) {
    if (own_parameters(node).empty()) continue;
    for (std::size_t end = 0; end != std::string::npos;) {
      end = node.path.find('.', end + 1);
      paths.insert(node.path.substr(0, end));
    }
  }
  return {paths.begin(), paths.end()};
}

/// Calls change(node) for the layers that `pattern` names.
template <class F>
void change_layers(Graph& graph, const std::string& key, const std::string& pattern,
                   const Position& where, Diagnostics& diagnostics, const F& change) {
  bool any = false;
  for (Node& node : graph.nodes) {
    if (own_parameters(node).empty() || !names_layer(pattern, node.path)) continue;
    change(node);
    any = true;
  }
  if (any) return;
  diagnostics.error(where, key + ": no layer with parameters is named by '" + pattern + "'" +
                               config::suggestion(pattern, known_paths(graph)));
}

void freeze(const config::Node& patterns, Graph& graph, Diagnostics& diagnostics) {
  if (patterns.kind != Kind::list) {
    diagnostics.error(patterns.where,
                      "freeze: expected a list of layers, found " + describe(patterns));
  }
  for (const config::Node& pattern : patterns.items) {
    change_layers(graph, "freeze", pattern.text, pattern.where, diagnostics,
                  [](Node& node) { node.frozen = true; });
  }
}

void multiply_rates(const config::Node& factors, Graph& graph, Diagnostics& diagnostics) {
  if (factors.kind != Kind::map) {
    diagnostics.error(factors.where,
                      "lr_mult: expected a map of layers to factors, found " + describe(factors));
  }
  for (const auto& [pattern, where, factor] : factors.entries) {
    if (!factor.is_number() || !(factor.real >= 0)) {
      diagnostics.error(factor.where,
                        "lr_mult: expected a factor of at least 0, found " + describe(factor));
      continue;
    }
    change_layers(graph, "lr_mult", pattern, where, diagnostics,
                  [&](Node& node) { node.rate_multiplier = factor.real; });
  }
}

void follow_owners(Graph& graph) {
  const std::vector<NodeId> owners = parameter_owners(graph);
  for (std::size_t id = 0; id < owners.size(); ++id) {
    graph.nodes[id].frozen = graph.nodes[owners[id]].frozen;
  }
}

}  // namespace

bool names_layer(const std::string& pattern, const std::string& path) {
  return fnmatch(pattern.c_str(), path.c_str(), 0) == 0 ||
         fnmatch((pattern + ".*").c_str(), path.c_str(), 0) == 0;
}

Graph build_network(const RunConfig& run, std::int64_t batch) {
  Graph graph = build_graph(network_of(run), {.batch = batch, .profile = run.profile});
  Diagnostics diagnostics;
  freeze(run.freeze, graph, diagnostics);
  multiply_rates(run.lr_mult, graph, diagnostics);
  if (run.batch.shards) check_shards_alone(graph, diagnostics);
  diagnostics.raise();
  follow_owners(graph);
  return graph;
}

}  // namespace trainyard

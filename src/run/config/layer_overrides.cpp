#include "run/config/layer_overrides.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "graph/build.h"
#include "ops/bn.h"
#include "ops/loss.h"
#include "plan/blocks.h"
#include "run/config/batch_numbers.h"
#include "run/config/losses.h"
#include "run/config/parameter_overrides.h"

namespace trainyard {
namespace {

using config::describe;
using config::Diagnostics;
using Kind = config::Node::Kind;

/// A key of the run file whose patterns name layers.
struct LayerKey {
  const char* name;
  const char* layers;  // layers that it is for
  bool (*is_for)(const Node& node);
};

bool has_parameters(const Node& node) { return !own_parameters(node).empty(); }
bool has_statistics(const Node& node) { return !node.signature.statistics.empty(); }

constexpr LayerKey kFreeze{"freeze", "layer with parameters", &has_parameters};
constexpr LayerKey kFreezeStatistics{"freeze_statistics", "layer with running statistics",
                                     &has_statistics};
constexpr LayerKey kRates{"lr_mult", "layer with parameters", &has_parameters};

/// Paths of the layers that the key is for, and of the blocks around them.
std::vector<std::string> known_paths(const Graph& graph, const LayerKey& key) {
  std::set<std::string> paths;
  for (const Node& node : graph.nodes) {
    if (!key.is_for(node)) continue;
    for (std::size_t end = 0; end != std::string::npos;) {
      end = node.path.find('.', end + 1);
      paths.insert(node.path.substr(0, end));
    }
  }
  return {paths.begin(), paths.end()};
}

/// Calls change(node) for the layers that `pattern` names.
template <class F>
void change_layers(Graph& graph, const LayerKey& key, const std::string& pattern,
                   const Position& where, Diagnostics& diagnostics, const F& change) {
  bool any = false;
  for (Node& node : graph.nodes) {
    if (!key.is_for(node) || !names_layer(pattern, node.path)) continue;
    change(node);
    any = true;
  }
  if (any) return;
  diagnostics.error(where,
                    fmt::format("{}: no {} is named by '{}'{}", key.name, key.layers, pattern,
                                config::suggestion(pattern, known_paths(graph, key))));
}

/// The same for a list of patterns.
template <class F>
void change_listed(Graph& graph, const LayerKey& key, const config::Node& patterns,
                   Diagnostics& diagnostics, const F& change) {
  if (patterns.kind != Kind::list) {
    diagnostics.error(
        patterns.where,
        std::string(key.name) + ": expected a list of layers, found " + describe(patterns));
  }
  for (const config::Node& pattern : patterns.items) {
    change_layers(graph, key, pattern.text, pattern.where, diagnostics, change);
  }
}

void freeze(const RunConfig& run, Graph& graph, Diagnostics& diagnostics) {
  change_listed(graph, kFreeze, run.freeze, diagnostics, [](Node& node) { node.frozen = true; });
  change_listed(graph, kFreezeStatistics, run.freeze_statistics, diagnostics, [&](Node& node) {
    node.op = dynamic_cast<const BnOp&>(*node.op).with_fixed_statistics();
    TY_CHECK(infer_signature(graph, node).empty(), "its shapes are the same");
  });
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
    change_layers(graph, kRates, pattern, where, diagnostics,
                  [&](Node& node) { node.rate_multiplier = factor.real; });
  }
}

/// A softmax with the loss of a sigmoid, or the reverse, would be computed in addition to the
/// activation of the loss.
void check_closing(const RunConfig& run, const Graph& whole, Diagnostics& diagnostics) {
  const std::string_view loss = run.loss->type();
  const std::string_view wanted = activation_of(loss);
  const std::string& found = whole.closing_activation;
  if (found.empty() || wanted.empty() || found == wanted) return;
  const std::string_view fitting = found == "softmax" ? kCrossEntropy : kBinaryCrossEntropy;
  diagnostics.error(whole.nodes.back().where,
                    fmt::format("layer '{0}': the network ends with {1}, but the loss {2} includes "
                                "a {3}; set 'loss: {4}' for {1}, or end with {3} for {2}",
                                whole.nodes.back().path, found, loss, wanted, fitting));
}

/// Each named output must have a loss, and no activation that its loss includes.
void check_heads(const RunConfig& run, const Graph& whole, Diagnostics& diagnostics) {
  for (const NamedOutput& output : whole.outputs) {
    const auto losses = losses_of(run);
    const auto found = std::ranges::find_if(
        losses, [&](const auto& loss) { return loss->values().output == output.name; });
    if (found == losses.end()) {
      diagnostics.error(run.network.where,
                        fmt::format("output '{0}' of the network has no loss; add it to 'heads', "
                                    "as in heads: [{1}: {{output: {0}, weight: 0.3}}]",
                                    output.name, run.loss->type()));
      continue;
    }
    const Node& last = whole.nodes[whole.values[output.value].producer];
    const bool closes = last.op->type() == "softmax" || last.op->type() == "sigmoid";
    const std::string_view included = activation_of((*found)->type());
    if (!closes || included.empty()) continue;
    diagnostics.error(
        last.where,
        fmt::format("layer '{}': output '{}' ends with {}, but its loss {} includes "
                    "a {}; delete the layer",
                    last.path, output.name, last.op->type(), (*found)->type(), included));
  }
}

void follow_owners(Graph& graph) {
  const std::vector<NodeId> owners = parameter_owners(graph);
  for (std::size_t id = 0; id < owners.size(); ++id) {
    graph.nodes[id].frozen = graph.nodes[owners[id]].frozen;
  }
}

}  // namespace

std::string_view activation_of(std::string_view loss) {
  if (loss == kCrossEntropy) return "softmax";
  if (loss == kBinaryCrossEntropy) return "sigmoid";
  return "";
}

bool names_layer(const std::string& pattern, const std::string& path) {
  return fnmatch(pattern.c_str(), path.c_str(), 0) == 0 ||
         fnmatch((pattern + ".*").c_str(), path.c_str(), 0) == 0;
}

std::string frozen_warning(const Graph& network) {
  const GraphTotals sums = totals(network);
  if (sums.parameters_trainable > 0) return "";
  if (sums.parameters_total == 0) return "the network has no parameters: nothing is learnt";
  return "'freeze' names every layer with parameters: nothing is learnt";
}

bool loss_computes_closing(const RunConfig& run, const Graph& whole) {
  return !whole.closing_activation.empty() &&
         whole.closing_activation == activation_of(run.loss->type());
}

Graph build_network(const RunConfig& run, std::int64_t batch) {
  Graph graph = build_whole_network(run, batch);
  if (loss_computes_closing(run, graph)) peel_closing(graph);
  return graph;
}

Graph build_whole_network(const RunConfig& run, std::int64_t batch) {
  Graph graph = build_graph(network_of(run),
                            {.batch = batch, .profile = run.profile, .peel_activation = false});
  Diagnostics diagnostics;
  check_closing(run, graph, diagnostics);
  check_heads(run, graph, diagnostics);
  freeze(run, graph, diagnostics);
  multiply_rates(run.lr_mult, graph, diagnostics);
  static_cast<void>(parameter_overrides(run, graph, 1, diagnostics));
  if (run.batch.shards) check_shards_alone(graph, diagnostics);
  diagnostics.raise();
  follow_owners(graph);
  return graph;
}

}  // namespace trainyard

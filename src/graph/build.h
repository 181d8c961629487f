// Network YAML to a graph.
#pragma once

#include <cstdint>

#include "config/diagnostics.h"
#include "config/node.h"
#include "graph/graph.h"

namespace trainyard {

struct BuildOptions {
  std::int64_t batch = 1;
  config::Profile profile = config::Profile::keras2;  // if the network names none
  /// Removes a final softmax or sigmoid so that the output is logits.
  bool peel_activation = true;
};

/// Checks a network map (keys profile, vars, input, defaults, blocks, layers) and builds its graph.
[[nodiscard]] Graph build_graph(const config::Node& network, const BuildOptions& options);

/// Removes a final softmax or sigmoid, if there is one, for a loss that computes it itself.
void peel_closing(Graph& graph);

/// The network with the run file's `vars` and `defaults` merged over its own.
[[nodiscard]] config::Node with_overrides(const config::Node& network, const config::Node* vars,
                                          const config::Node* defaults,
                                          config::Diagnostics& diagnostics);

}  // namespace trainyard

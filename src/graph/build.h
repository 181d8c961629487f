// Network YAML to a graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "config/node.h"
#include "graph/graph.h"

namespace trainyard {

struct BuildOptions {
  std::int64_t batch = 1;
  config::Profile profile = config::Profile::keras2;  // where the network names none
  /// Removes a closing softmax or sigmoid so that the output is logits.
  bool peel_activation = true;
};

/// The parts of a network map before expansion, checked against the schema.
/// Keys: profile, vars, input, defaults, blocks, layers.
[[nodiscard]] Graph build_graph(const config::Node& network, const BuildOptions& options);

/// Takes a closing softmax or sigmoid off, if there is one, so that the output is what it reads:
/// for a loss that computes it.
void peel_closing(Graph& graph);

/// The network with `vars` and `defaults` of the run file laid over it (DESIGN section 2 rule 7).
[[nodiscard]] config::Node with_overrides(const config::Node& network, const config::Node* vars,
                                          const config::Node* defaults,
                                          config::Diagnostics& diagnostics);

}  // namespace trainyard

// The parts of a network map, checked but not expanded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "config/expression.h"
#include "config/fields.h"
#include "config/node.h"
#include "graph/network_input.h"

namespace trainyard {

/// `f` or `k=3` in the args of a block.
struct BlockArgument {
  std::string name;
  std::optional<config::Node>
      fallback;  // may be an expression over variables and earlier arguments
};

/// A macro: `cbr: {args: [f, k=3], layers: [...]}`.
struct Block {
  std::vector<BlockArgument> arguments;
  config::Node layers;
  Position where;
};

/// A network file, read but not expanded.
struct NetworkFile {
  config::Profile profile = config::Profile::keras2;
  config::Scope variables;
  NetworkInput input;
  std::map<std::string, config::Node> defaults;  // op type to a map of its keys, evaluated
  std::map<std::string, Block> blocks;
  config::Node layers;
  config::Node outputs;  // list of names (as:) of outputs besides the last layer's; or null
};

/// Reads profile, vars, input, defaults, blocks, layers and outputs; errors go to `diagnostics`.
[[nodiscard]] NetworkFile read_network_file(const config::Node& network, config::Profile profile,
                                            config::Diagnostics& diagnostics);

}  // namespace trainyard

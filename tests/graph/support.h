// Graphs from YAML, for the tests.
#pragma once

#include <string>
#include <vector>

#include "config/load.h"
#include "graph/build.h"
#include "graph/include.h"
#include "ops/convolution.h"

namespace trainyard::test {

/// A graph from YAML text; messages contain `name`.
inline Graph build(const std::string& yaml, const BuildOptions& options = {},
                   const std::string& name = "net.yaml") {
  return build_graph(config::parse_yaml(yaml, name), options);
}

/// A graph from a file of the repository, with variables overridden ("n: 3").
inline Graph build_file(const std::string& path, const std::string& vars = "",
                        const BuildOptions& options = {}) {
  const config::Node network = load_network(std::string(TY_SOURCE_DIR) + "/" + path);
  const config::Node over = config::parse_yaml("{" + vars + "}", "vars");
  config::Diagnostics diagnostics;
  const config::Node merged = with_overrides(network, &over, nullptr, diagnostics);
  diagnostics.raise();
  return build_graph(merged, options);
}

/// The message of the error from building, "" if none.
inline std::string message_of(const std::string& yaml, const std::string& name = "net.yaml") {
  try {
    (void)build(yaml, {}, name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::vector<std::string> paths(const Graph& graph) {
  std::vector<std::string> result;
  for (const Node& node : graph.nodes) result.push_back(node.path);
  return result;
}

/// The node of this path; fails the test if there is none.
inline const Node& node_at(const Graph& graph, const std::string& path) {
  for (const Node& node : graph.nodes) {
    if (node.path == path) return node;
  }
  throw Error(ErrorKind::bug, "no node " + path);
}

inline const ConvAttributes& conv_at(const Graph& graph, const std::string& path) {
  return dynamic_cast<const ConvOp&>(*node_at(graph, path).op).values();
}

inline Shape output_of(const Graph& graph) {
  return graph.values.at(static_cast<std::size_t>(graph.output)).shape;
}

}  // namespace trainyard::test

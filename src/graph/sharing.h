// `share:`: layers that use the parameters of others.
#pragma once

#include <map>
#include <string>

#include "config/node.h"
#include "graph/graph.h"

namespace trainyard {

/// An item with `share:` while it is expanded. The layer at `own` + x uses the parameters of the
/// layer at `owner` + x; x is "" for a single layer, ".conv1" and the like inside a block.
struct Share {
  const config::Node* name = nullptr;  // as written
  std::string own, owner;              // paths of the two items
  int layers = 0;                      // layers that share so far
};

/// The layers of a graph that have parameters, by path.
class ParameterLayers {
 public:
  void add(const Node& node);
  /// True if there is a layer at `path` or below it.
  [[nodiscard]] bool any_at(const std::string& path) const;
  /// Gives `node`, whose signature is set, the parameters that `share` names. Returns "" or why it
  /// cannot: parameters must agree in name, shape, init, l2 and decay group.
  [[nodiscard]] std::string give(const Share& share, Node& node) const;

 private:
  struct Layer {
    std::string type;
    std::string parameters_of;  // as in Node
    std::vector<ParameterSpec> parameters;
  };
  std::map<std::string, Layer> layers_;
};

}  // namespace trainyard

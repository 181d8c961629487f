#include "inference/layer_output.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "config/diagnostics.h"
#include "run/config/layer_overrides.h"

namespace trainyard {

ValueId output_of_layer(const RunConfig& run, const Graph& network, const std::string& layer) {
  const auto found = std::ranges::find(network.nodes, layer, &Node::path);
  if (found != network.nodes.end()) return found->outputs.at(0);
  const Graph whole = build_whole_network(run, 1);
  std::vector<std::string> names;
  for (const Node& node : network.nodes) names.push_back(node.path);
  const bool closing = std::ranges::find(whole.nodes, layer, &Node::path) != whole.nodes.end();
  throw Error(ErrorKind::command_line,
              closing ? "--layer: '" + layer +
                            "' is computed with the loss, and its output is what predict gives "
                            "without --layer; name a layer before it"
                      : "--layer: the network has no layer '" + layer +
                            "', by the names that train summary prints" +
                            config::suggestion(layer, names));
}

PredictionForm layer_form(const StoredModel& stored, const std::string& layer) {
  const Graph network = build_network(stored.config, 1);
  const ValueId value = output_of_layer(stored.config, network, layer);
  return {.names = {}, .logits = false, .width = network.values[value].shape.elements()};
}

}  // namespace trainyard

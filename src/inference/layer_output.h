// The output of a layer within a network.
#pragma once

#include <string>

#include "graph/graph.h"
#include "inference/prediction.h"

namespace trainyard {

/// The value that layer `layer` of `network`, the run's as it is trained, gives. Throws
/// Error{command_line}, with the nearest name, for a layer that is not there, and for a closing
/// activation, which the loss computes.
[[nodiscard]] ValueId output_of_layer(const RunConfig& run, const Graph& network,
                                      const std::string& layer);

/// How rows of that layer's elements are read: as values. Throws as output_of_layer().
[[nodiscard]] PredictionForm layer_form(const StoredModel& stored, const std::string& layer);

}  // namespace trainyard

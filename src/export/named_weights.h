// A network's weights on the host, by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/safetensors.h"
#include "graph/graph.h"

namespace trainyard {

/// A tensor that a network has.
struct WeightSpec {
  std::string name;  // "stage1.conv1.weight"
  Shape shape;
};

/// The parameters and running statistics of a network, in the order of its nodes.
[[nodiscard]] std::vector<WeightSpec> weight_specs(const Graph& network);

/// Values by name, row-major.
using NamedWeights = std::map<std::string, std::vector<float>>;

/// Those of a network in `file`; values of double precision are rounded. Throws Error{checkpoint},
/// naming `source`, with every tensor that is missing or has another shape or no floats.
[[nodiscard]] NamedWeights read_named_weights(const SafetensorsFile& file,
                                              const std::string& source, const Graph& network);

}  // namespace trainyard

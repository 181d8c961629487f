// What a training step launches on a GPU, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "bench/counted_step.h"
#include "formats/json.h"

namespace trainyard::cli {

/// "313 nodes, 0.702 GB of own bytes: bn 114 (0.583 GB), convolution 65, ...".
[[nodiscard]] std::string nodes_text(const NodeCounts& counts);
/// {"nodes", "own_bytes", "kinds": [{"kind", "nodes", "own_bytes", "functors": {name: nodes}}]}.
[[nodiscard]] Json nodes_json(const NodeCounts& counts);

/// A step that is counted without a GPU.
struct CountedStep {
  std::string network;
  std::int64_t batch = 0;
  Target target;
  std::vector<counted::Launch> launches;
};
/// Nodes and own bytes, with the time that each known GPU is predicted to take.
[[nodiscard]] std::string prediction_text(const CountedStep& step);
/// The same with what the predictions assume.
[[nodiscard]] std::string prediction_json(const CountedStep& step);

}  // namespace trainyard::cli

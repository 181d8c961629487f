// Biases that batch norms cancel, which training leaves out.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace trainyard {

/// A conv, conv_transpose or dense layer and a batch norm of its output. The layer's bias would
/// shift the output and the batch mean alike, so that the norm is the same without it and its
/// gradient is exactly 0; the running mean takes the batch mean and the bias (BiasedMeans).
struct CancelledBias {
  NodeId layer = -1;
  NodeId norm = -1;

  bool operator==(const CancelledBias&) const = default;
};

/// Takes the bias from every layer of a training graph whose output is read by batch norms alone:
/// by no residual, and not in `kept`, the values read after the last step. The layer is one without
/// bias then; its parameter remains, for evaluation and for layers that share it. In the order of
/// the layers.
[[nodiscard]] std::vector<CancelledBias> cancel_biases(Graph& graph, std::span<const ValueId> kept);

}  // namespace trainyard

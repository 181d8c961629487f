// The weights and workspace of a convolution step, apart from its engine.
#pragma once

#include <cstddef>

#include "exec/cudnn/conv_graph.h"
#include "exec/cudnn/step_workspace.h"
#include "exec/functor/weights.h"

namespace trainyard::cudnn {

/// A convolution's weights, and the slots in a step's workspace that precede the engine's: an
/// engine may take at most workspace.left().
struct ConvOffsets {
  WeightShape weights;
  bool direct = false;           // the weights of the flat block are used unchanged
  std::size_t packed_bytes = 0;  // of the weights in the storage type
  StepWorkspace workspace;
  std::size_t packed = 0;        // of the weights, or of their gradient
  std::size_t rounded_bias = 0;  // in the storage type
  std::size_t partials = 0;      // of the sums of the bias's gradient
};

/// `graph` is conv_graph(step), `cap` the maximum bytes of step and engine together.
[[nodiscard]] ConvOffsets conv_offsets(const StepDescription& step, const ConvGraph& graph,
                                       std::size_t cap);
/// An engine that adds the bias reads it in the storage type. None adds that of a transposed
/// convolution.
[[nodiscard]] bool rounds_bias(const StepDescription& step);

}  // namespace trainyard::cudnn

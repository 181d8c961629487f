// What the step of a convolution needs of its own, beside its engine.
#pragma once

#include <cstddef>

#include "exec/cudnn/conv_graph.h"
#include "exec/cudnn/step_workspace.h"
#include "exec/functor/weights.h"

namespace trainyard::cudnn {

/// A convolution's weights, and the places in the workspace of a step that come before its
/// engine's: what workspace.left() says then is all that an engine may take.
struct ConvOffsets {
  WeightShape weights;
  bool direct = false;           // the weights of the flat block are read and written as they are
  std::size_t packed_bytes = 0;  // of the weights in the storage type
  StepWorkspace workspace;
  std::size_t packed = 0;        // of the weights, or of their gradient
  std::size_t rounded_bias = 0;  // in the storage type
  std::size_t partials = 0;      // of the sums of the bias's gradient
};

/// `graph` is conv_graph(step), `cap` the bytes that step and engine may take together.
[[nodiscard]] ConvOffsets conv_places(const StepDescription& step, const ConvGraph& graph,
                                      std::size_t cap);
/// An engine that adds the bias takes it in the storage type.
[[nodiscard]] bool rounds_bias(const StepDescription& step);

}  // namespace trainyard::cudnn

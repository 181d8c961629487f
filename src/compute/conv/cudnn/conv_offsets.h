// The workspace of a convolution step, apart from its engine.
#pragma once

#include <cstddef>

#include "compute/conv/cudnn/step_workspace.h"
#include "compute/executor.h"

namespace trainyard::cudnn {

/// The slots in a step's workspace that precede the engine's: an engine may take at most
/// workspace.left().
struct ConvOffsets {
  StepWorkspace workspace;
  std::size_t partials = 0;  // of the sums of the bias's gradient
};

/// `cap`: the maximum bytes of step and engine together.
[[nodiscard]] ConvOffsets conv_offsets(const StepDescription& step, std::size_t cap);

}  // namespace trainyard::cudnn

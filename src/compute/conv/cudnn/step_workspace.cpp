#include "compute/conv/cudnn/step_workspace.h"

#include "compute/conv/conv_step.h"
#include "compute/devices/cuda/kernels.h"

namespace trainyard::cudnn {

ConvOffsets conv_offsets(const StepDescription& step, std::size_t cap) {
  ConvOffsets offsets{.workspace = StepWorkspace(cap)};
  if (!conv_step(step).sums_bias()) return offsets;
  offsets.partials = offsets.workspace.take(bias_partial_bytes(ChannelRows(step.outputs[0])));
  return offsets;
}

}  // namespace trainyard::cudnn

#include "exec/cudnn/conv_offsets.h"

#include "exec/cudnn/kernels.h"
#include "ops/convolution.h"

namespace trainyard::cudnn {

ConvOffsets conv_offsets(const StepDescription& step, std::size_t cap) {
  ConvOffsets offsets{.workspace = StepWorkspace(cap)};
  const bool bias = static_cast<const ConvolutionOp&>(*step.op).values().bias;
  if (step.pass != Pass::backward_parameters || !bias) return offsets;
  offsets.partials = offsets.workspace.take(bias_partial_bytes(ChannelRows(step.outputs[0])));
  return offsets;
}

}  // namespace trainyard::cudnn

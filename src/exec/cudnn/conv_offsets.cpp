#include "exec/cudnn/conv_offsets.h"

#include "exec/cudnn/kernels.h"

namespace trainyard::cudnn {
namespace {

const ConvolutionOp& op_of(const StepDescription& step) {
  return static_cast<const ConvolutionOp&>(*step.op);
}

WeightShape weight_shape(const StepDescription& step, const ConvGraph& graph) {
  const ConvStep conv = conv_step(step);
  return {.filters = conv.filters(),
          .channels = conv.channels(),
          .height = conv.attributes.kernel.h,
          .width = conv.attributes.kernel.w,
          .padded_filters = graph.weight.extents[0],
          .padded_channels = graph.weight.extents[1]};
}

void take_forward(const StepDescription& step, ConvOffsets& offsets) {
  const bool training = step.pass == Pass::forward_train;
  if (!offsets.direct && training) offsets.workspace.leave(offsets.packed_bytes);  // in the reserve
  if (!offsets.direct && !training) offsets.packed = offsets.workspace.take(offsets.packed_bytes);
  if (!rounds_bias(step)) return;
  offsets.rounded_bias = offsets.workspace.take(
      static_cast<std::size_t>(op_of(step).values().filters) * size_of(step.storage));
}

void take_backward_parameters(const StepDescription& step, ConvOffsets& offsets) {
  if (!offsets.direct) offsets.packed = offsets.workspace.take(offsets.packed_bytes);
  if (!op_of(step).values().bias) return;
  offsets.partials = offsets.workspace.take(bias_partial_bytes(ChannelRows(step.outputs[0])));
}

}  // namespace

bool rounds_bias(const StepDescription& step) {
  return op_of(step).values().bias && !op_of(step).transposed() && step.storage != DType::f32;
}

ConvOffsets conv_offsets(const StepDescription& step, const ConvGraph& graph, std::size_t cap) {
  const WeightShape weights = weight_shape(step, graph);
  ConvOffsets offsets{
      .weights = weights,
      .direct = step.storage == DType::f32 && weights.same_order(),
      .packed_bytes = static_cast<std::size_t>(weights.packed_elements()) * size_of(step.storage),
      .workspace = StepWorkspace(cap)};
  if (step.pass == Pass::backward_data) return offsets;
  if (step.pass == Pass::backward_parameters) {
    take_backward_parameters(step, offsets);
  } else {
    take_forward(step, offsets);
  }
  return offsets;
}

}  // namespace trainyard::cudnn

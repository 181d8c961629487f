#include "exec/cudnn/conv_offsets.h"

#include "exec/cudnn/kernels.h"
#include "ops/conv.h"

namespace trainyard::cudnn {
namespace {

const ConvAttributes& attributes_of(const StepDescription& step) {
  return static_cast<const ConvOp&>(*step.op).values();
}

WeightShape weight_shape(const StepDescription& step, const ConvGraph& graph) {
  const ConvAttributes& conv = attributes_of(step);
  return {.filters = conv.filters,
          .channels = step.inputs[0].extent[1] / conv.groups,
          .height = conv.kernel.h,
          .width = conv.kernel.w,
          .padded_filters = graph.weight.extents[0],
          .padded_channels = graph.weight.extents[1]};
}

void take_forward(const StepDescription& step, ConvOffsets& offsets) {
  const bool training = step.pass == Pass::forward_train;
  if (!offsets.direct && training) offsets.workspace.leave(offsets.packed_bytes);  // in the reserve
  if (!offsets.direct && !training) offsets.packed = offsets.workspace.take(offsets.packed_bytes);
  if (!rounds_bias(step)) return;
  offsets.rounded_bias = offsets.workspace.take(
      static_cast<std::size_t>(attributes_of(step).filters) * size_of(step.storage));
}

void take_backward_parameters(const StepDescription& step, ConvOffsets& offsets) {
  if (!offsets.direct) offsets.packed = offsets.workspace.take(offsets.packed_bytes);
  if (!attributes_of(step).bias) return;
  offsets.partials = offsets.workspace.take(bias_partial_bytes(ChannelRows(step.outputs[0])));
}

}  // namespace

bool rounds_bias(const StepDescription& step) {
  return attributes_of(step).bias && step.storage != DType::f32;
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

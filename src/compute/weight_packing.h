// Copies of weights between the flat blocks and the order in which a device's libraries read them;
// how those of a convolution are packed (compute/weight_shape.h).
#pragma once

#include <vector>

#include "compute/conv/conv_step.h"
#include "compute/executor.h"
#include "compute/weight_shape.h"
#include "tensor/dtype.h"

namespace trainyard {

/// Makes the copies of a device whose executors read and write packed weights; the device's factory
/// is one. Each is one launch, whatever the number of weights.
class WeightPacking {
 public:
  virtual ~WeightPacking() = default;
  /// Packs inputs[i], f32 and plain, into outputs[i], packed_elements() of `storage`.
  [[nodiscard]] virtual ExecutorPtr make_pack(const std::vector<WeightShape>& shapes,
                                              DType storage) const = 0;
  /// The reverse: inputs[i] is packed, outputs[i] plain.
  [[nodiscard]] virtual ExecutorPtr make_unpack(const std::vector<WeightShape>& shapes,
                                                DType storage) const = 0;
};

/// Null: the executors of this factory read and write the flat blocks as they are.
[[nodiscard]] inline const WeightPacking* weight_packing_of(const ExecutorFactory& executors) {
  return dynamic_cast<const WeightPacking*>(&executors);
}

/// A convolution's. Without groups the padding channels of both maps take part in the product.
[[nodiscard]] inline WeightShape weight_shape(const ConvStep& conv) {
  const bool padded = conv.attributes.groups == 1;
  return {.filters = conv.filters(),
          .channels = conv.channels(),
          .height = conv.attributes.kernel.h,
          .width = conv.attributes.kernel.w,
          .padded_filters = padded ? conv.maps.output.padded_channels : conv.filters(),
          .padded_channels = padded ? conv.maps.input.padded_channels : conv.channels()};
}

/// Whether an engine may add the bias of a convolution: not that of a transposed one, nor one
/// before a ReLU, which a kernel of ours adds and cuts at 0 in one pass.
[[nodiscard]] inline bool engine_may_add_bias(const ConvStep& conv) {
  return conv.adds_bias() && !conv.transposed && !conv.form.relu;
}
/// An engine that adds the bias reads it in the storage type, but the choice of an engine is not
/// known to a plan.
[[nodiscard]] inline bool rounds_bias(const StepDescription& step) {
  return engine_may_add_bias(conv_step(step)) && step.storage != DType::f32;
}

}  // namespace trainyard

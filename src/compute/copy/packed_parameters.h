// Which parameters a step reads, and which gradients it writes, in the storage type and the order
// of a GPU's libraries instead of plain f32. On a device that packs weights (Target::packs_weights)
// these are what its executors find in StepTensors::parameters and parameter_gradients.
#pragma once

#include <cstddef>
#include <vector>

#include "compute/conv/conv_step.h"
#include "compute/conv/narrow/narrow_step.h"
#include "compute/copy/weights.h"
#include "ops/dense.h"
#include "ops/recurrent.h"

namespace trainyard {

/// A packed parameter of a step, or its gradient.
struct PackedParameter {
  std::size_t index = 0;  // of the op's parameters
  WeightShape shape;
  bool keeps_plain = false;  // the step reads both: the packed one follows all parameters
  bool operator==(const PackedParameter&) const = default;
};

/// A parameter that is rounded in its own order.
[[nodiscard]] inline WeightShape rounded_shape(const Shape& shape) {
  const std::int64_t elements = shape.elements();
  return {.channels = elements, .padded_channels = elements};
}

/// Of a convolution. Without groups the padding channels of both maps take part in the product.
[[nodiscard]] inline WeightShape weight_shape(const ConvStep& conv) {
  const bool padded = conv.attributes.groups == 1;
  return {.filters = conv.filters(),
          .channels = conv.channels(),
          .height = conv.attributes.kernel.h,
          .width = conv.attributes.kernel.w,
          .padded_filters = padded ? conv.maps.output.padded_channels : conv.filters(),
          .padded_channels = padded ? conv.maps.input.padded_channels : conv.channels()};
}

/// True if the weights of the flat block are the packed ones.
[[nodiscard]] inline bool is_direct(const WeightShape& shape, DType storage) {
  return storage == DType::f32 && shape.same_order();
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

/// The parameters that the executor of a step reads packed.
[[nodiscard]] inline std::vector<PackedParameter> packed_parameters(const StepDescription& step) {
  std::vector<PackedParameter> packed;
  if (step.pass == Pass::backward_parameters) return packed;
  const auto& parameters = step.signature.parameters;
  if (dynamic_cast<const ConvolutionOp*>(step.op) != nullptr) {
    WeightShape shape = weight_shape(conv_step(step));
    shape.turned = step.pass == Pass::backward_data && is_narrow(conv_step(step), step.storage);
    if (!is_direct(shape, step.storage)) packed.push_back({.shape = shape});
    if (rounds_bias(step)) {
      packed.push_back(
          {.index = 1, .shape = rounded_shape(parameters[1].shape), .keeps_plain = true});
    }
  } else if (step.storage != DType::f32) {
    const bool recurrent = dynamic_cast<const RecurrentOp*>(step.op) != nullptr;
    const bool dense = dynamic_cast<const DenseOp*>(step.op) != nullptr;
    // The matrices; biases are added in f32.
    const std::size_t matrices = recurrent ? 2 : dense ? 1 : 0;
    for (std::size_t i = 0; i < matrices; ++i) {
      packed.push_back({.index = i, .shape = rounded_shape(parameters[i].shape)});
    }
  }
  return packed;
}

/// The parameters whose gradients the executor of a step writes packed.
[[nodiscard]] inline std::vector<PackedParameter> packed_gradients(const StepDescription& step) {
  if (step.pass != Pass::backward_parameters) return {};
  if (dynamic_cast<const ConvolutionOp*>(step.op) == nullptr) return {};
  const WeightShape shape = weight_shape(conv_step(step));
  if (is_direct(shape, step.storage)) return {};
  return {{.shape = shape}};
}

}  // namespace trainyard

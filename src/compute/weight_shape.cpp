#include "compute/conv/narrow/narrow_step.h"
#include "compute/table.h"
#include "compute/weight_packing.h"

namespace trainyard {

std::vector<PackedParameter> packed_parameters(const StepDescription& step) {
  std::vector<PackedParameter> packed;
  if (step.pass == Pass::backward_parameters) return packed;
  const auto& parameters = step.signature.parameters;
  if (computation_of(step.op->type()) == Computation::convolution) {
    WeightShape shape = weight_shape(conv_step(step));
    shape.turned = step.pass == Pass::backward_data && is_narrow(conv_step(step), step.storage);
    if (!is_direct(shape, step.storage)) packed.push_back({.shape = shape});
    if (rounds_bias(step)) {
      packed.push_back(
          {.index = 1, .shape = rounded_shape(parameters[1].shape), .keeps_plain = true});
    }
  } else if (step.storage != DType::f32) {
    const bool recurrent = computation_of(step.op->type()) == Computation::recurrence;
    const bool dense = computation_of(step.op->type()) == Computation::product;
    // The matrices; biases are added in f32.
    const std::size_t matrices = recurrent ? 2 : dense ? 1 : 0;
    for (std::size_t i = 0; i < matrices; ++i) {
      packed.push_back({.index = i, .shape = rounded_shape(parameters[i].shape)});
    }
  }
  return packed;
}

std::vector<PackedParameter> packed_gradients(const StepDescription& step) {
  if (step.pass != Pass::backward_parameters) return {};
  if (computation_of(step.op->type()) != Computation::convolution) return {};
  const WeightShape shape = weight_shape(conv_step(step));
  if (is_direct(shape, step.storage)) return {};
  return {{.shape = shape}};
}

}  // namespace trainyard

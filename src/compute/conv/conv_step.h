// A step of a convolution, or of a transposed one, as one of the three products of a convolution.
//
// A transposed convolution has the passes of the convolution exchanged: its forward pass is that
// one's gradient of the input, its gradient of the input that one's forward pass, and its gradient
// of the weights that one's with input and output exchanged. Executors compute the products alone.
#pragma once

#include <cstdint>
#include <utility>

#include "compute/executor.h"
#include "ops/convolution.h"

namespace trainyard {

enum class ConvProduct { output, input_gradient, weight_gradient };

/// The maps of a convolution, or their gradients.
template <class Map>
struct ConvMaps {
  Map input, output;
};

struct ConvStep {
  ConvAttributes attributes;
  bool transposed = false;
  Pass pass = Pass::forward_train;
  ConvProduct computes = ConvProduct::output;
  StepForm form;
  Margins margins;
  ConvMaps<Layout> maps;

  /// Extents of the weights [filters, channels, kh, kw].
  [[nodiscard]] std::int64_t filters() const { return maps.output.extent[1]; }
  [[nodiscard]] std::int64_t channels() const { return maps.input.extent[1] / attributes.groups; }
  [[nodiscard]] bool forward() const {
    return pass == Pass::forward_train || pass == Pass::forward_eval;
  }
  [[nodiscard]] bool adds_bias() const { return attributes.bias && forward(); }
  [[nodiscard]] bool sums_bias() const {
    return attributes.bias && pass == Pass::backward_parameters && form.own_bias();
  }
  /// Maps made of what belongs to the op's input and to its output.
  template <class Map>
  [[nodiscard]] ConvMaps<Map> by_role(Map of_input, Map of_output) const {
    if (transposed) std::swap(of_input, of_output);
    return {std::move(of_input), std::move(of_output)};
  }
  /// The maps of the product: of the step's pass, gradients where it reads or writes gradients.
  [[nodiscard]] ConvMaps<TensorView> views(const StepTensors& tensors) const {
    return by_role(pass == Pass::backward_data ? tensors.input_gradients[0] : tensors.inputs[0],
                   forward() ? tensors.outputs[0] : tensors.output_gradients[0]);
  }
};

[[nodiscard]] inline ConvStep conv_step(const StepDescription& step) {
  const auto& op = op_as<ConvolutionOp>(step);
  ConvStep made{.attributes = op.values(),
                .transposed = op.transposed(),
                .pass = step.pass,
                .form = step.form,
                .margins = op.margins(shape_of(step.inputs[0])),
                .maps = {}};
  made.maps = made.by_role(step.inputs[0], step.outputs[0]);
  const bool to_input = made.forward() == made.transposed;  // backward, or transposed and forward
  if (step.pass == Pass::backward_parameters) {
    made.computes = ConvProduct::weight_gradient;
  } else if (to_input) {
    made.computes = ConvProduct::input_gradient;
  }
  return made;
}

}  // namespace trainyard

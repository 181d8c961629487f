// What convolutions and transposed convolutions share: their attributes, their weights, and what
// executors need to know of both.
#pragma once

#include <string>
#include <vector>

#include "ops/op.h"
#include "ops/window.h"

namespace trainyard {

struct ConvAttributes {
  std::int64_t filters = 0;  // output channels
  config::Pair kernel{1, 1};
  config::Pair stride{1, 1};
  Padding pad;  // of the larger map; see window.h
  config::Pair dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
  Initializer init;  // of the kernel
  double l2 = 0;     // Keras's l2 on the kernel
};

/// Reads the attributes; defaults follow the profile (keras2: glorot_uniform, torch: torch_default,
/// which gives the bias PyTorch's uniform +-1 / sqrt(fan_in) too).
void declare(config::Fields& fields, ConvAttributes& conv);
/// "filters: 16, kernel: [3, 3], ...".
[[nodiscard]] std::string text_of(const ConvAttributes& conv);

/// A convolution, or a transposed one: that is the convolution that reads the op's output and gives
/// its input, with the passes exchanged. Executors see the convolution in both cases; its weights
/// are [filters, channels / groups, kh, kw] with the filters and channels of the convolution.
class ConvolutionOp : public Op {
 public:
  explicit ConvolutionOp(ConvAttributes attributes) : attributes_(std::move(attributes)) {}
  [[nodiscard]] const ConvAttributes& values() const { return attributes_; }
  [[nodiscard]] virtual bool transposed() const = 0;
  /// Padding in pixels of the convolution's input, for an input of the op of this shape.
  [[nodiscard]] virtual Margins margins(const Shape& input) const = 0;

  [[nodiscard]] Contract contract() const override {
    return {
        .backward_reads_inputs = true,
        .can = Cans{Can::add_gradient, Can::use_side_queue}.set(Can::take_relu, attributes_.bias),
        .layouts = Contract::Layouts::any};
  }

 protected:
  /// weight [filters, channels / groups, kh, kw] and bias [values().filters]. fan_in = kh * kw *
  /// channels / groups, fan_out = kh * kw * filters.
  [[nodiscard]] std::vector<ParameterSpec> parameters(std::int64_t filters,
                                                      std::int64_t channels) const;
  [[nodiscard]] ConvAttributes attributes_without_bias() const {
    ConvAttributes attributes = attributes_;
    attributes.bias = false;
    return attributes;
  }

 private:
  ConvAttributes attributes_;
};

}  // namespace trainyard

// Convolutions and transposed convolutions (also called deconvolutions: the gradient of a
// convolution's input as a layer; Zeiler et al. 2010; Dumoulin and Visin 2016, arXiv 1603.07285).
// The latter are Keras's Conv2DTranspose, PyTorch's ConvTranspose2d, Caffe's and MXNet's
// Deconvolution.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ops/op_with.h"
#include "ops/window.h"

namespace trainyard {

struct ConvAttributes {
  std::int64_t filters = 0;  // output channels
  config::Pair kernel{1, 1};
  config::Pair stride{1, 1};
  Padding pad;  // padding of the larger map; see window.h
  config::Pair dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
  Initializer init;  // initializer of the kernel
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
class ConvolutionOp : public OpWith<ConvAttributes> {
 public:
  using OpWith::OpWith;
  [[nodiscard]] virtual bool transposed() const = 0;
  /// Padding in pixels of the convolution's input, for an input of the op of this shape.
  [[nodiscard]] virtual Margins margins(const Shape& input) const = 0;

  [[nodiscard]] Contract contract() const override {
    return {.backward_reads_inputs = true,
            .can = Cans{Can::add_gradient, Can::use_side_queue}.set(Can::take_relu, values().bias),
            .layouts = Contract::Layouts::any};
  }

 protected:
  /// weight [filters, channels / groups, kh, kw] and bias [values().filters]. fan_in = kh * kw *
  /// channels / groups, fan_out = kh * kw * filters.
  [[nodiscard]] std::vector<ParameterSpec> parameters(std::int64_t filters,
                                                      std::int64_t channels) const;
  [[nodiscard]] ConvAttributes attributes_without_bias() const {
    ConvAttributes attributes = values();
    attributes.bias = false;
    return attributes;
  }
};

/// [n, c, h, w] to [n, filters, oh, ow]. Parameters: weight [filters, c / groups, kh, kw] and bias
/// [filters]. fan_in = kh * kw * c / groups.
class ConvOp final : public ConvolutionOp {
 public:
  using ConvolutionOp::ConvolutionOp;

  [[nodiscard]] bool transposed() const override { return false; }
  [[nodiscard]] Margins margins(const Shape& input) const override;

  [[nodiscard]] std::string_view type() const override { return "conv"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] OpPtr without_bias() const override {
    return values().bias ? std::make_unique<ConvOp>(attributes_without_bias()) : nullptr;
  }
  [[nodiscard]] std::string attributes() const override { return "{" + text_of(values()) + "}"; }
};

struct ConvTransposeAttributes {
  ConvAttributes conv;            // `pad` is cut off the output
  config::Pair output_pad{0, 0};  // pixels added at the end of the output, below the stride
};

/// [n, c, h, w] to [n, filters, oh, ow]; oh and ow as plan_transposed_axis() states. Parameters:
/// weight [c, filters / groups, kh, kw], as PyTorch stores it, and bias [filters]. fan_in = kh * kw
/// * filters / groups, as Keras and PyTorch count it.
class ConvTransposeOp final : public ConvolutionOp {
 public:
  explicit ConvTransposeOp(ConvTransposeAttributes attributes)
      : ConvolutionOp(std::move(attributes.conv)), output_pad_(attributes.output_pad) {}

  [[nodiscard]] const config::Pair& output_pad() const { return output_pad_; }
  [[nodiscard]] bool transposed() const override { return true; }
  [[nodiscard]] Margins margins(const Shape& input) const override;

  [[nodiscard]] std::string_view type() const override { return "conv_transpose"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] OpPtr without_bias() const override {
    if (!values().bias) return nullptr;
    return std::make_unique<ConvTransposeOp>(
        ConvTransposeAttributes{attributes_without_bias(), output_pad_});
  }
  [[nodiscard]] std::string attributes() const override;

 private:
  [[nodiscard]] WindowSplit plan(const Shape& input) const;

  config::Pair output_pad_;
};

/// keras2 pads `valid`, the others with 0 pixels; mxnet has no bias unless asked.
void declare(config::Fields& fields, ConvTransposeAttributes& transposed);
[[nodiscard]] std::span<const config::Kind<Op>> convolution_kinds();

}  // namespace trainyard

// Transposed convolution, also called deconvolution: the gradient of a convolution's input as a
// layer (Zeiler et al. 2010; Dumoulin and Visin 2016, arXiv 1603.07285). Keras's Conv2DTranspose,
// PyTorch's ConvTranspose2d, Caffe's and MXNet's Deconvolution.
#pragma once

#include <string>
#include <utility>

#include "ops/convolution.h"

namespace trainyard {

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
  [[nodiscard]] std::unique_ptr<Op> without_bias() const override {
    if (!values().bias) return nullptr;
    return std::make_unique<ConvTransposeOp>(
        ConvTransposeAttributes{attributes_without_bias(), output_pad_});
  }
  [[nodiscard]] std::string attributes() const override;

 private:
  [[nodiscard]] WindowPlan plan(const Shape& input) const;

  config::Pair output_pad_;
};

/// keras2 pads `valid`, the others with 0 pixels; mxnet has no bias unless asked.
void declare(config::Fields& fields, ConvTransposeAttributes& transposed);
[[nodiscard]] config::Kind<Op> conv_transpose_kind();

}  // namespace trainyard

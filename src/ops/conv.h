// Two-dimensional convolution (cross-correlation, as in every framework).
#pragma once

#include <string>

#include "ops/convolution.h"

namespace trainyard {

/// [n, c, h, w] to [n, filters, oh, ow]. Parameters: weight [filters, c / groups, kh, kw] and bias
/// [filters]. fan_in = kh * kw * c / groups.
class ConvOp final : public ConvolutionOp {
 public:
  using ConvolutionOp::ConvolutionOp;

  [[nodiscard]] bool transposed() const override { return false; }
  [[nodiscard]] Margins margins(const Shape& input) const override;

  [[nodiscard]] std::string_view type() const override { return "conv"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] std::unique_ptr<Op> without_bias() const override {
    return values().bias ? std::make_unique<ConvOp>(attributes_without_bias()) : nullptr;
  }
  [[nodiscard]] std::string attributes() const override { return "{" + text_of(values()) + "}"; }
};

[[nodiscard]] config::Kind<Op> conv_kind();

}  // namespace trainyard

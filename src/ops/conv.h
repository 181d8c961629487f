// Two-dimensional convolution (cross-correlation, as in every framework).
#pragma once

#include <string>

#include "ops/op.h"
#include "ops/window.h"

namespace trainyard {

struct ConvAttributes {
  std::int64_t filters = 0;  // output channels
  config::Pair kernel{1, 1};
  config::Pair stride{1, 1};
  Padding pad;  // of the input; see window.h
  config::Pair dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;
  Initializer init;  // of the kernel
  double l2 = 0;     // Keras's l2 on the kernel
};

/// [n, c, h, w] to [n, filters, oh, ow]. Parameters: weight [filters, c / groups, kh, kw] and bias
/// [filters]. fan_in = kh * kw * c / groups.
class ConvOp final : public Op {
 public:
  explicit ConvOp(ConvAttributes attributes) : attributes_(std::move(attributes)) {}
  [[nodiscard]] const ConvAttributes& values() const { return attributes_; }
  /// Padding in pixels for an input of this shape.
  [[nodiscard]] Margins margins(const Shape& input) const;

  [[nodiscard]] std::string_view type() const override { return "conv"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;

 private:
  ConvAttributes attributes_;
};

/// Reads the attributes; defaults follow the profile (keras2: glorot_uniform, torch: torch_default,
/// which gives the bias PyTorch's uniform +-1 / sqrt(fan_in) too).
void declare(config::Fields& fields, ConvAttributes& conv);
[[nodiscard]] config::Kind<Op> conv_kind();

}  // namespace trainyard

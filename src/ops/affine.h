// Learned parameters per channel: the factor and offset of normalisations, and what ops with such
// parameters share.
#pragma once

#include <string>
#include <vector>

#include "ops/op.h"

namespace trainyard {

/// [channels]; fans are the channels.
[[nodiscard]] ParameterSpec channel_parameter(std::string name, std::int64_t channels,
                                              const Initializer& initializer, ParameterGroup group);
/// gamma [channels], each `gamma`, if `scale`; then beta [channels], zeros, if `center`.
[[nodiscard]] std::vector<ParameterSpec> affine_parameters(std::int64_t channels, bool scale,
                                                           bool center, double gamma = 1);

/// An op on features or images that keeps their shape and has one or two parameters per channel,
/// whose gradients are sums over the channel's pixels: backward_data computes them too.
class ChannelParameterOp : public Op {
 public:
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const final;
  /// False if the steps of a sequence are normalised together.
  [[nodiscard]] virtual bool keeps_steps() const { return true; }

 protected:
  [[nodiscard]] virtual std::vector<ParameterSpec> parameters(std::int64_t channels) const = 0;
};

}  // namespace trainyard

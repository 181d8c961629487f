// Learned parameters per channel: the factor and offset of normalisations, what ops with such
// parameters share, and what their functors need at most: memory is forecast from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/op.h"
#include "tensor/shape.h"

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

/// The most elements that a tensor of this shape has in any layout, padding included.
[[nodiscard]] std::int64_t most_elements(const Shape& shape);
/// Bytes of workspace for pairs of sums over the pixels of each channel of all samples
/// (sum_channels()).
[[nodiscard]] std::size_t channel_sum_bytes(const Shape& shape);
/// The same for each channel of each sample (sum_maps()): of the sums and, after them, of the work.
[[nodiscard]] std::size_t map_sum_bytes(const Shape& shape);

}  // namespace trainyard

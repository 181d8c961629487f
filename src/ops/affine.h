// Learned parameters per channel: the factor and offset of normalisations, and what ops with such
// parameters share.
#pragma once

#include <string>
#include <vector>

#include "ops/channel_sums.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/places.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// [channels]; fans are the channels.
[[nodiscard]] ParameterSpec channel_parameter(std::string name, std::int64_t channels,
                                              const Initializer& initializer, ParameterGroup group);
/// gamma [channels], ones, if `scale`; then beta [channels], zeros, if `center`.
[[nodiscard]] std::vector<ParameterSpec> affine_parameters(std::int64_t channels, bool scale,
                                                           bool center);

/// An op on features or images that keeps their shape and has one or two parameters per channel,
/// whose gradients are sums over the channel's pixels: backward_data computes them too.
class ChannelParameterOp : public Op {
 public:
  static constexpr bool kElementwise = false;

  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const final;
  /// False if the steps of a sequence are normalised together.
  [[nodiscard]] virtual bool keeps_steps() const { return true; }

  /// The workspace of sum_gradients().
  template <class T>
  [[nodiscard]] std::size_t workspace_bytes(const FunctorStep& step) const {
    return step.backward() ? channel_sum_bytes(shape_of(step.inputs[0])) : 0;
  }

 protected:
  [[nodiscard]] virtual std::vector<ParameterSpec> parameters(std::int64_t channels) const = 0;

  /// The gradients of both parameters, either of which may be null, from their terms at each place
  /// (ChannelSums).
  template <class A, class Launcher, class Terms>
  static void sum_gradients(const FunctorStep& step, const StepTensors& tensors,
                            const Launcher& launcher, const Terms& terms, A* first, A* second) {
    sum_channels(launcher, step.inputs[0], terms, first, second, tensors.workspace,
                 tensors.batch.finished);
  }
};

}  // namespace trainyard

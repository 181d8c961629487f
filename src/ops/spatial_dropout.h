// Dropout of whole channels (Tompson et al. 2015), with inverted scaling as in Keras and PyTorch.
#pragma once

#include <string>

#include "ops/dropout.h"
#include "ops/places.h"

namespace trainyard {

/// The factor of each channel of each sample: 0 or `scale`. Four neighbouring channels share a
/// draw. Call i is for channel i % channels of sample i / channels.
template <class A>
struct ChannelFactor {
  DropoutMask mask;
  std::int64_t channels;
  A scale;
  A* factors;  // [n, channels]

  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t n = i / channels, c = i - n * channels;
    const Random4 draw = DropoutMask::draw(mask.sample(n), static_cast<std::uint32_t>(c / 4));
    const std::int64_t lane = c % 4;
    const std::uint32_t word = lane == 0   ? draw.word[0]
                               : lane == 1 ? draw.word[1]
                               : lane == 2 ? draw.word[2]
                                           : draw.word[3];
    factors[i] = word >= mask.threshold ? scale : A(0);
  }
};

/// y = x * factor of the channel; a channel that is dropped is 0 whatever it holds.
template <class T>
struct ChannelProduct {
  using A = Arithmetic<T>;
  const T* x;
  const A* factors;  // [n, channels]
  Places from;
  TY_HD A operator()(const Place& at) const {
    const A factor = factors[at.n * from.channels + at.c];
    const A value = x[from.offset(at.n, at.c, at.pixel)];
    return factor == 0 ? A(0) : value * factor;
  }
};

/// [n, c, h, w] to the same shape. forward_eval copies. Backward draws the mask again.
class SpatialDropoutOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit SpatialDropoutOp(DropoutAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override { return "spatial_dropout"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;

  /// The factors of the channels.
  template <class T>
  [[nodiscard]] std::size_t workspace_bytes(const FunctorStep& step) const {
    return static_cast<std::size_t>(channels_of(step)) * sizeof(Arithmetic<T>);
  }
  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    const bool drops = step.pass != Pass::forward_eval;
    const DropoutMask mask{.batch = tensors.batch,
                           .node = step.node,
                           .threshold = drops ? drop_threshold(attributes_.rate) : 0};
    const A scale = static_cast<A>(drops ? 1.0 / (1.0 - attributes_.rate) : 1.0);
    A* const factors = static_cast<A*>(tensors.workspace);
    launcher.each(channels_of(step), ChannelFactor<A>{mask, in.layout.extent[1], scale, factors});
    map_places<T>(launcher, out, ChannelProduct<T>{in.as<T>(), factors, Places(in.layout)});
  }

 private:
  /// Of all samples.
  [[nodiscard]] static std::int64_t channels_of(const FunctorStep& step) {
    return step.inputs[0].extent[0] * step.inputs[0].extent[1];
  }

  DropoutAttributes attributes_;
};

[[nodiscard]] config::Kind<Op> spatial_dropout_kind();

}  // namespace trainyard

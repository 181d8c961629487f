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
    const std::uint32_t word = DropoutMask::word(mask.sample(n), static_cast<std::uint32_t>(c));
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
    const A value = x[from.offset(at, at.pixel)];
    return factor == 0 ? A(0) : value * factor;
  }
};

/// Whole channels of [n, c, h, w].
class SpatialDropoutOp final : public DropOp {
 public:
  static constexpr bool kElementwise = false;

  using DropOp::DropOp;

  [[nodiscard]] std::string_view type() const override { return "spatial_dropout"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;

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
    DropoutMask drawn = mask(step, tensors);
    const bool drops = step.pass != Pass::forward_eval;
    if (!drops) drawn.threshold = 0;
    A* const factors = static_cast<A*>(tensors.workspace);
    launcher.each(channels_of(step),
                  ChannelFactor<A>{drawn, in.layout.extent[1], drops ? scale<A>() : A(1), factors});
    map_places<T>(launcher, out, ChannelProduct<T>{in.as<T>(), factors, Places(in.layout)});
  }

 private:
  /// Of all samples.
  [[nodiscard]] static std::int64_t channels_of(const FunctorStep& step) {
    return step.inputs[0].extent[0] * step.inputs[0].extent[1];
  }
};

[[nodiscard]] config::Kind<Op> spatial_dropout_kind();

}  // namespace trainyard

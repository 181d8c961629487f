// Product of branches: of one shape, or a map and one factor per channel.
#pragma once

#include <array>
#include <string>

#include "ops/channel_scale.h"
#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Two or more inputs of one shape to that shape, multiplied in the order of the inputs; or a map
/// [n, c, h, w] and, in either order, its factors [n, c, 1, 1] or [n, c] to the map's shape. The
/// gradient of an input is dy times the other inputs, in their order; that of factors is the sum
/// over the map, in the order of a Team.
class MultiplyOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  [[nodiscard]] std::string_view type() const override { return "multiply"; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const std::size_t scaled = scaled_input(step);
    if (scaled < step.inputs.size()) return run_scaled<T>(step, tensors, launcher, scaled);
    if (step.backward()) return run_backward<T>(tensors, launcher);
    const TensorView& out = tensors.outputs[0];
    for (std::size_t i = 1; i < tensors.inputs.size(); ++i) {
      multiply<T>(launcher, i == 1 ? tensors.inputs[0] : out, tensors.inputs[i], out);
    }
  }

 private:
  /// The input that is scaled by the other; the number of inputs if all have one shape.
  static std::size_t scaled_input(const FunctorStep& step) {
    const auto pixels = [&](std::size_t i) {
      return step.inputs[i].extent[2] * step.inputs[i].extent[3];
    };
    if (step.inputs.size() != 2 || pixels(0) == pixels(1)) return step.inputs.size();
    return pixels(0) > pixels(1) ? 0 : 1;
  }
  template <class T, class Launcher>
  static void multiply(const Launcher& launcher, const TensorView& a, const TensorView& b,
                       const TensorView& out) {
    map<T>(launcher, plan_walk(std::array{a.layout, b.layout, out.layout}), Product{}, a, b, out);
  }
  template <class T, class Launcher>
  static void run_backward(const StepTensors& tensors, const Launcher& launcher) {
    const std::size_t count = tensors.inputs.size();
    for (std::size_t i = 0; i < count; ++i) {
      const TensorView& dx = tensors.input_gradients[i];
      if (dx.data == nullptr) continue;
      const TensorView* before = &tensors.output_gradients[0];
      for (std::size_t other = 0; other < count; ++other) {
        if (other == i) continue;
        multiply<T>(launcher, *before, tensors.inputs[other], dx);
        before = &dx;
      }
    }
  }
  template <class T, class Launcher>
  static void run_scaled(const FunctorStep& step, const StepTensors& tensors,
                         const Launcher& launcher, std::size_t scaled) {
    const TensorView &x = tensors.inputs[scaled], &factors = tensors.inputs[1 - scaled];
    if (!step.backward()) return scale_channels<T>(launcher, x, factors, tensors.outputs[0]);
    const TensorView& dy = tensors.output_gradients[0];
    const TensorView& dx = tensors.input_gradients[scaled];
    const TensorView& dfactors = tensors.input_gradients[1 - scaled];
    if (dx.data != nullptr) scale_channels<T>(launcher, dy, factors, dx);
    if (dfactors.data != nullptr) sum_channel_products<T>(launcher, dy, x, dfactors);
  }
};

[[nodiscard]] config::Kind<Op> multiply_kind();

}  // namespace trainyard

// Images to features.
#pragma once

#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// [n, c, h, w] to [n, c * h * w], row-major; features pass unchanged. Values do not move, so the
/// planner aliases input and output wherever both are plain; run() copies.
class FlattenOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  [[nodiscard]] std::string_view type() const override { return "flatten"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& from = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& to = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    const UnaryElement<Copy, T, T> element{Copy{}, to.as<T>(), from.as<T>()};
    map_runs(launcher, element, 1, span_elements(from.layout), {});
  }
};

[[nodiscard]] config::Kind<Op> flatten_kind();

}  // namespace trainyard

// The same values in another shape.
#pragma once

#include <string>
#include <vector>

#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// [n, ...] to [n, extents], row-major: one extent gives features, three give images. Values do not
/// move, so the planner aliases input and output; run() copies.
class ReshapeOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  /// One or three extents; at most one is -1: what is left over.
  explicit ReshapeOp(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

  [[nodiscard]] std::string_view type() const override { return "reshape"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.alias_forward = true, .layouts = Contract::Layouts::plain};
  }
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& from = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& to = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    const UnaryElement<Copy, T, T> element{Copy{}, to.as<T>(), from.as<T>()};
    map_runs(launcher, element, 1, span_elements(from.layout), {});
  }

 private:
  std::vector<std::int64_t> extents_;
};

[[nodiscard]] config::Kind<Op> reshape_kind();

}  // namespace trainyard

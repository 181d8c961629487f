// Product of branches.
#pragma once

#include <string>

#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// a * b.
struct Product {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return a * b;
  }
};

/// Two or more inputs of one shape to that shape, multiplied in the order of the inputs. The
/// gradient of an input is dy times the other inputs, in their order.
class MultiplyOp final : public Op {
 public:
  static constexpr bool kElementwise = true;

  [[nodiscard]] std::string_view type() const override { return "multiply"; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const std::size_t count = tensors.inputs.size();
    if (!step.backward()) {
      const TensorView& out = tensors.outputs[0];
      for (std::size_t i = 1; i < count; ++i) {
        const TensorView& before = i == 1 ? tensors.inputs[0] : out;
        map<T>(launcher, step.walk, Product{}, before, tensors.inputs[i], out);
      }
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const TensorView& dx = tensors.input_gradients[i];
      if (dx.data == nullptr) continue;
      const TensorView* before = &tensors.output_gradients[0];
      for (std::size_t other = 0; other < count; ++other) {
        if (other == i) continue;
        map<T>(launcher, step.walk, Product{}, *before, tensors.inputs[other], dx);
        before = &dx;
      }
    }
  }
};

[[nodiscard]] config::Kind<Op> multiply_kind();

}  // namespace trainyard

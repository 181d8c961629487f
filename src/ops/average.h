// Mean of branches.
#pragma once

#include <string>

#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// (a + b) * factor.
struct ScaledSum {
  static constexpr bool kKeepsZero = true;
  double factor;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return (a + b) * static_cast<T>(factor);
  }
};

/// x * factor.
struct Scaled {
  static constexpr bool kKeepsZero = true;
  double factor;
  template <class T>
  TY_HD T operator()(T x) const {
    return x * static_cast<T>(factor);
  }
};

/// Two or more inputs of one shape to that shape: their sum in order, times 1 / count. Every
/// input's gradient is dy / count, written once for all.
class AverageOp final : public Op {
 public:
  static constexpr bool kElementwise = true;

  [[nodiscard]] std::string_view type() const override { return "average"; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const double factor = 1.0 / static_cast<double>(tensors.inputs.size());
    if (step.backward()) {
      map<T, T>(launcher, step.walk, Scaled{factor}, tensors.output_gradients[0],
                shared_gradient(tensors));
      return;
    }
    const TensorView& out = tensors.outputs[0];
    const std::size_t last = tensors.inputs.size() - 1;
    for (std::size_t i = 1; i <= last; ++i) {
      const TensorView& before = i == 1 ? tensors.inputs[0] : out;
      if (i == last) {
        map<T>(launcher, step.walk, ScaledSum{factor}, before, tensors.inputs[i], out);
      } else {
        map<T>(launcher, step.walk, Sum{}, before, tensors.inputs[i], out);
      }
    }
  }
};

[[nodiscard]] config::Kind<Op> average_kind();

}  // namespace trainyard

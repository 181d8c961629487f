// Maximum of branches.
#pragma once

#include <string>

#include "launcher/team.h"
#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// The larger of two; NaN wins, so that it is not lost.
struct Larger {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return larger(a, b);
  }
};

/// dx[o] = 0 where the other input wins: where it is larger or, if it is an earlier branch, equal.
template <class T>
struct MaximumLoss {
  T* dx;
  const T* own;
  const T* other;
  bool other_is_earlier;
  TY_HD void apply(std::int64_t o, std::int64_t i, std::int64_t j) const {
    const auto a = static_cast<Arithmetic<T>>(own[i]), b = static_cast<Arithmetic<T>>(other[j]);
    const bool wins = a > b || (a == b && !other_is_earlier);
    dx[o] = wins ? dx[o] : T{};
  }
};

/// Two or more inputs of one shape to that shape. The gradient goes to the largest input, to the
/// first of equal ones.
class MaximumOp final : public Op {
 public:
  static constexpr bool kElementwise = true;

  [[nodiscard]] std::string_view type() const override { return "maximum"; }
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
        map<T>(launcher, step.walk, Larger{}, before, tensors.inputs[i], out);
      }
      return;
    }
    for (std::size_t i = 0; i < count; ++i) gradient<T>(step, tensors, launcher, i);
  }

 private:
  template <class T, class Launcher>
  static void gradient(const FunctorStep& step, const StepTensors& tensors,
                       const Launcher& launcher, std::size_t i) {
    const TensorView& dx = tensors.input_gradients[i];
    if (dx.data == nullptr) return;
    map<T, T>(launcher, step.walk, Copy{}, tensors.output_gradients[0], dx);
    const TensorView& own = tensors.inputs[i];
    for (std::size_t other = 0; other < tensors.inputs.size(); ++other) {
      if (other == i) continue;
      const TensorView& rival = tensors.inputs[other];
      const MaximumLoss<T> loss{dx.as<T>(), own.as<T>(), rival.as<T>(), other < i};
      map_elements(launcher, step.walk, loss, dx.layout, own.layout, rival.layout);
    }
  }
};

[[nodiscard]] config::Kind<Op> maximum_kind();

}  // namespace trainyard

// The sum of a network's losses: the root of a graph with several.
#pragma once

#include <string>
#include <vector>

#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Losses that a sum can have.
inline constexpr std::size_t kMostLosses = 8;

/// sum[n] = sum over losses of weight * loss[n], in their order.
template <class A>
struct SumLosses {
  const A* losses[kMostLosses];  // [n]
  double weights[kMostLosses];
  int count;
  A* sum;  // [n]
  TY_HD void operator()(std::int64_t n) const {
    A total = A(0);
    for (int i = 0; i < count; ++i) total += static_cast<A>(weights[i]) * losses[i][n];
    sum[n] = total;
  }
};

/// The gradient of each loss: its weight times the state's gradient scale.
template <class A>
struct LossSumGradients {
  A* gradients[kMostLosses];  // [n]; null: not needed
  double weights[kMostLosses];
  int count;
  const StepState* state;
  TY_HD void operator()(std::int64_t n) const {
    for (int i = 0; i < count; ++i) {
      if (gradients[i] != nullptr) {
        gradients[i][n] = static_cast<A>(weights[i] * state->gradient_scale);
      }
    }
  }
};

/// Losses per row [n] to their weighted sum [n]. Backward starts here.
class LossSumOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  /// At most kMostLosses weights, one for each loss.
  explicit LossSumOp(std::vector<double> weights);

  [[nodiscard]] std::string_view type() const override { return "loss_sum"; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.arithmetic_outputs = true, .layouts = Contract::Layouts::plain};
  }
  /// "{weights: [1, 0.3]}".
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const std::int64_t samples = step.inputs[0].extent[0];
    if (step.backward()) {
      LossSumGradients<A> backward{{}, {}, count_, tensors.batch.state};
      for (int i = 0; i < count_; ++i) {
        backward.gradients[i] = tensors.input_gradients[i].as<A>();
        backward.weights[i] = weights_[i];
      }
      return launcher.each(samples, backward);
    }
    SumLosses<A> forward{{}, {}, count_, tensors.outputs[0].as<A>()};
    for (int i = 0; i < count_; ++i) {
      forward.losses[i] = tensors.inputs[i].as<const A>();
      forward.weights[i] = weights_[i];
    }
    launcher.each(samples, forward);
  }

 private:
  double weights_[kMostLosses] = {};
  int count_ = 0;
};

}  // namespace trainyard

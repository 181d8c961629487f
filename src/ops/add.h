// Sum of branches, optionally fused with the following ReLU.
#pragma once

#include <string>

#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

struct AddAttributes {
  bool relu = false;  // set by the planner's fusion, never by YAML: y = max(sum, 0)
};

/// max(a + b, 0); NaN stays NaN, as in Relu.
struct SumRelu {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    const T sum = a + b;
    return sum < 0 ? T(0) : sum;
  }
};

/// dy where the output is above 0.
struct SumReluGradient {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T dy, T y) const {
    return y > 0 ? dy : T(0);
  }
};

/// Two or more inputs of one shape to that shape, summed in the order of the inputs. All inputs
/// share one gradient, that of the output (with relu: where the output is above 0), written once.
class AddOp final : public Op {
 public:
  static constexpr bool kElementwise = true;

  explicit AddOp(AddAttributes attributes) : attributes_(attributes) {}
  [[nodiscard]] const AddAttributes& values() const { return attributes_; }

  [[nodiscard]] std::string_view type() const override { return "add"; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::unique_ptr<Op> with_relu() const override;
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return run_backward<T>(step, tensors, launcher);
    const TensorView& out = tensors.outputs[0];
    const std::size_t last = tensors.inputs.size() - 1;
    for (std::size_t i = 1; i <= last; ++i) {
      const TensorView& before = i == 1 ? tensors.inputs[0] : out;
      if (i == last && attributes_.relu) {
        map<T>(launcher, step.walk, SumRelu{}, before, tensors.inputs[i], out);
      } else {
        map<T>(launcher, step.walk, Sum{}, before, tensors.inputs[i], out);
      }
    }
  }

 private:
  template <class T, class Launcher>
  void run_backward(const FunctorStep& step, const StepTensors& tensors,
                    const Launcher& launcher) const {
    const TensorView& dy = tensors.output_gradients[0];
    const TensorView& dx = shared_gradient(tensors);
    if (attributes_.relu) {
      map<T>(launcher, step.walk, SumReluGradient{}, dy, tensors.outputs[0], dx);
    } else {
      map<T, T>(launcher, step.walk, Copy{}, dy, dx);
    }
  }

  AddAttributes attributes_;
};

[[nodiscard]] config::Kind<Op> add_kind();

}  // namespace trainyard

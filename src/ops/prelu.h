// Leaky ReLU with a learned slope per channel (He et al. 2015, "Delving deep into rectifiers").
#pragma once

#include <string>

#include "ops/affine.h"

namespace trainyard {

/// y = x, or alpha[c] * x below 0.
template <class T>
struct PreluValue {
  using A = Arithmetic<T>;
  const T* x;
  const A* alpha;
  TY_HD A operator()(const Place& at) const {
    const A value = static_cast<A>(x[at.offset]);
    const A below = alpha[at.c] * value;
    return value < 0 ? below : value;
  }
};

/// dx = dy, or alpha[c] * dy where x is not above 0. dx may be dy.
template <class T>
struct PreluGradient {
  using A = Arithmetic<T>;
  const T* x;
  const T* dy;
  const A* alpha;
  TY_HD A operator()(const Place& at) const {
    const A gradient = static_cast<A>(dy[at.offset]);
    const A below = alpha[at.c] * gradient;
    return static_cast<A>(x[at.offset]) > 0 ? gradient : below;
  }
};

/// The terms of alpha's gradient: x * dy where x is below 0.
template <class T>
struct PreluSlope {
  const T* x;
  const T* dy;
  TY_HD PairSum operator()(const Place& at) const {
    const double value = static_cast<Arithmetic<T>>(x[at.offset]);
    const double gradient = static_cast<Arithmetic<T>>(dy[at.offset]);
    return {value < 0 ? value * gradient : 0, 0};
  }
};

struct PreluAttributes {
  double init = 0;  // of every slope
};

/// Any shape to the same shape. Parameter: alpha [c].
class PreluOp final : public ChannelParameterOp {
 public:
  explicit PreluOp(PreluAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override { return "prelu"; }
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const T* const x = tensors.inputs[0].as<T>();
    const A* const alpha = tensors.parameters[0].as<A>();
    if (!step.backward()) {
      return map_places<T>(launcher, tensors.outputs[0], PreluValue<T>{x, alpha});
    }
    const T* const dy = tensors.output_gradients[0].as<T>();
    sum_gradients(step, tensors, launcher, PreluSlope<T>{x, dy},
                  data_at<A>(tensors.parameter_gradients, 0), static_cast<A*>(nullptr));
    const TensorView& dx = tensors.input_gradients[0];
    if (dx.data != nullptr) map_places<T>(launcher, dx, PreluGradient<T>{x, dy, alpha});
  }

 protected:
  [[nodiscard]] std::vector<ParameterSpec> parameters(std::int64_t channels) const override;

 private:
  PreluAttributes attributes_;
};

/// Keras begins with slopes of 0, PyTorch and the paper with 0.25.
void declare(config::Fields& fields, PreluAttributes& prelu);
[[nodiscard]] config::Kind<Op> prelu_kind();

}  // namespace trainyard

// A learned factor and offset per channel: Caffe's Scale, the part of batch norm after the
// normalisation.
#pragma once

#include <string>

#include "ops/affine.h"

namespace trainyard {

/// y = gamma[c] * x + beta[c].
template <class T>
struct ScaleValue {
  using A = Arithmetic<T>;
  const T* x;
  const A* gamma;
  const A* beta;  // or null: 0
  TY_HD A operator()(const Place& at) const {
    const A scaled = gamma[at.c] * static_cast<A>(x[at.offset]);
    return beta == nullptr ? scaled : scaled + beta[at.c];
  }
};

/// dx = gamma[c] * dy. dx may be dy.
template <class T>
struct ScaleGradient {
  using A = Arithmetic<T>;
  const T* dy;
  const A* gamma;
  TY_HD A operator()(const Place& at) const { return gamma[at.c] * static_cast<A>(dy[at.offset]); }
};

/// The terms of the gradients of gamma, x * dy, and of beta, dy.
template <class T>
struct ScaleTerms {
  const T* x;
  const T* dy;
  TY_HD PairSum operator()(const Place& at) const {
    const double gradient = static_cast<Arithmetic<T>>(dy[at.offset]);
    return {static_cast<double>(static_cast<Arithmetic<T>>(x[at.offset])) * gradient, gradient};
  }
};

struct ScaleAttributes {
  bool center = true;  // beta
};

/// Any shape to the same shape. Parameters: gamma and, with center, beta, each [c].
class ScaleOp final : public ChannelParameterOp {
 public:
  explicit ScaleOp(ScaleAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override { return "scale"; }
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const T* const x = tensors.inputs[0].as<T>();
    const A* const gamma = tensors.parameters[0].as<A>();
    if (!step.backward()) {
      return map_places<T>(launcher, tensors.outputs[0],
                           ScaleValue<T>{x, gamma, data_at<A>(tensors.parameters, 1)});
    }
    const T* const dy = tensors.output_gradients[0].as<T>();
    sum_gradients(step, tensors, launcher, ScaleTerms<T>{x, dy},
                  data_at<A>(tensors.parameter_gradients, 0),
                  data_at<A>(tensors.parameter_gradients, 1));
    const TensorView& dx = tensors.input_gradients[0];
    if (dx.data != nullptr) map_places<T>(launcher, dx, ScaleGradient<T>{dy, gamma});
  }

 protected:
  [[nodiscard]] std::vector<ParameterSpec> parameters(std::int64_t channels) const override;

 private:
  ScaleAttributes attributes_;
};

void declare(config::Fields& fields, ScaleAttributes& scale);
[[nodiscard]] config::Kind<Op> scale_kind();

}  // namespace trainyard

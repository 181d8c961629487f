// Ops with learned parameters per channel: a factor and offset, and the slope of prelu.
#pragma once

#include <array>
#include <tuple>

#include "compute/elementwise/channel_sums.h"
#include "compute/elementwise/element_index.h"
#include "compute/elementwise/functor_step.h"
#include "ops/activation.h"
#include "ops/norm.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// The functors of an op with parameters per channel.
template <class OpType>
struct ChannelParameterFunctors : FunctorsOf<OpType> {
  /// Workspace of sum_gradients().
  template <class T>
  [[nodiscard]] std::size_t workspace_bytes(const FunctorStep& step) const {
    return step.backward() ? channel_sum_bytes(shape_of(step.inputs[0])) : 0;
  }
  /// The gradients of both parameters, either of which may be null, from their terms at each place
  /// (ChannelSums).
  template <class A, class Launcher, class Terms>
  static void sum_gradients(const FunctorStep& step, const StepTensors& tensors,
                            const Launcher& launcher, const Terms& terms, A* first, A* second) {
    sum_channels(launcher, step.inputs[0], terms, first, second, tensors.workspace,
                 tensors.batch.finished);
  }
};

/// y = gamma[c] * x + beta[c].
template <class T>
struct ScaleValue {
  using A = Arithmetic<T>;
  const T* x;
  const A* gamma;
  const A* beta;  // or null: 0
  TY_HD A operator()(const ElementIndex& at) const {
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
  TY_HD A operator()(const ElementIndex& at) const {
    return gamma[at.c] * static_cast<A>(dy[at.offset]);
  }
};

/// The terms of the gradients of gamma, x * dy, and of beta, dy.
template <class T>
struct ScaleTerms {
  const T* x;
  const T* dy;
  TY_HD PairSum operator()(const ElementIndex& at) const {
    const double gradient = static_cast<Arithmetic<T>>(dy[at.offset]);
    return {static_cast<double>(static_cast<Arithmetic<T>>(x[at.offset])) * gradient, gradient};
  }
};

struct ScaleFunctors : ChannelParameterFunctors<ScaleOp> {
  static constexpr std::array<std::string_view, 1> kOps{"scale"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const T* const x = tensors.inputs[0].as<T>();
    const A* const gamma = tensors.parameters[0].as<A>();
    if (!step.backward()) {
      return map_indexed<T>(launcher, tensors.outputs[0],
                            ScaleValue<T>{x, gamma, data_at<A>(tensors.parameters, 1)});
    }
    const T* const dy = tensors.output_gradients[0].as<T>();
    sum_gradients(step, tensors, launcher, ScaleTerms<T>{x, dy},
                  data_at<A>(tensors.parameter_gradients, 0),
                  data_at<A>(tensors.parameter_gradients, 1));
    const TensorView& dx = tensors.input_gradients[0];
    if (dx.data != nullptr) map_indexed<T>(launcher, dx, ScaleGradient<T>{dy, gamma});
  }
};

/// y = x, or alpha[c] * x below 0.
template <class T>
struct PreluValue {
  using A = Arithmetic<T>;
  const T* x;
  const A* alpha;
  TY_HD A operator()(const ElementIndex& at) const {
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
  TY_HD A operator()(const ElementIndex& at) const {
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
  TY_HD PairSum operator()(const ElementIndex& at) const {
    const double value = static_cast<Arithmetic<T>>(x[at.offset]);
    const double gradient = static_cast<Arithmetic<T>>(dy[at.offset]);
    return {value < 0 ? value * gradient : 0, 0};
  }
};

struct PreluFunctors : ChannelParameterFunctors<PreluOp> {
  static constexpr std::array<std::string_view, 1> kOps{"prelu"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const T* const x = tensors.inputs[0].as<T>();
    const A* const alpha = tensors.parameters[0].as<A>();
    if (!step.backward()) {
      return map_indexed<T>(launcher, tensors.outputs[0], PreluValue<T>{x, alpha});
    }
    const T* const dy = tensors.output_gradients[0].as<T>();
    sum_gradients(step, tensors, launcher, PreluSlope<T>{x, dy},
                  data_at<A>(tensors.parameter_gradients, 0), static_cast<A*>(nullptr));
    const TensorView& dx = tensors.input_gradients[0];
    if (dx.data != nullptr) map_indexed<T>(launcher, dx, PreluGradient<T>{x, dy, alpha});
  }
};

/// The functors above.
using ScaleList = std::tuple<ScaleFunctors, PreluFunctors>;

}  // namespace trainyard

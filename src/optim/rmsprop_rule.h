// The arithmetic of RMSprop (Tieleman and Hinton 2012, lecture 6.5).
//
//   a = rho a + (1 - rho) g g;  step = g / root(a), with the root of root.h
//   centered (Graves 2013, equation 38): c = rho c + (1 - rho) g;  step = g / root(a - c c)
//   without momentum: w -= lr step
//   with it, in the two forms of sgd_rule.h: keras (mxnet, timm): v = m v + lr step;  w -= v
//                                            torch:               v = m v + step;     w -= lr v
#pragma once

#include <cstddef>

#include "optim/element.h"
#include "optim/root.h"
#include "optim/sgd_rule.h"
#include "optim/step_scalars.h"

namespace trainyard {

template <bool centered, bool with_momentum>
struct RmspropRule {
  static constexpr std::size_t kMean = 1;  // slots: square, mean, momentum
  static constexpr std::size_t kVelocity = centered ? 2 : 1;
  static constexpr std::size_t kSlots = 1 + (centered ? 1 : 0) + (with_momentum ? 1 : 0);
  double rho = 0;
  SafeRoot root;
  double momentum = 0;
  MomentumForm form = MomentumForm::keras;

  template <class T>
  struct Step {
    T scale, apply, decay, rho, rest, momentum;
    RootStep<T> root;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] = rho * e.state[0] + rest * g * g;
      T square = e.state[0];
      if constexpr (centered) {
        e.state[kMean] = rho * e.state[kMean] + rest * g;
        square -= e.state[kMean] * e.state[kMean];
      }
      const T change = scale * g / root(square);
      if constexpr (with_momentum) {
        e.state[kVelocity] = momentum * e.state[kVelocity] + change;
        e.weight -= apply * e.state[kVelocity];
      } else {
        e.weight -= change;
      }
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    const bool torch = with_momentum && form == MomentumForm::torch;
    return {static_cast<T>(torch ? 1.0 : scalars.rate),
            static_cast<T>(torch ? scalars.rate : 1.0),
            static_cast<T>(scalars.decay),
            static_cast<T>(rho),
            static_cast<T>(1.0 - rho),
            static_cast<T>(momentum),
            root.step<T>()};
  }
};

}  // namespace trainyard

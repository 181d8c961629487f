// The arithmetic of Adadelta (Zeiler 2012), as in Keras, torch and Caffe.
//
//   a = rho a + (1 - rho) g g;  u = g sqrt(d + eps) / sqrt(a + eps);  w -= lr u
//   d = rho d + (1 - rho) u u
#pragma once

#include <cstddef>

#include "base/math.h"
#include "optim/element.h"
#include "optim/step_scalars.h"

namespace trainyard {

struct AdadeltaRule {
  static constexpr std::size_t kSlots = 2;
  double rho = 0, epsilon = 0;

  template <class T>
  struct Step {
    T rate, decay, rho, rest, epsilon;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] = rho * e.state[0] + rest * g * g;
      const T change = g * math::sqrt(e.state[1] + epsilon) / math::sqrt(e.state[0] + epsilon);
      e.weight -= rate * change;
      e.state[1] = rho * e.state[1] + rest * change * change;
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    return {static_cast<T>(scalars.rate), static_cast<T>(scalars.decay), static_cast<T>(rho),
            static_cast<T>(1.0 - rho), static_cast<T>(epsilon)};
  }
};

}  // namespace trainyard

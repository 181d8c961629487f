// The arithmetic of RMSprop (Tieleman and Hinton 2012, lecture 6.5), epsilon outside the root as in
// Keras and torch:  a = rho a + (1 - rho) g g;  w -= lr g / (sqrt(a) + eps)
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/math.h"
#include "optim/element.h"

namespace trainyard {

struct RmspropRule {
  static constexpr std::size_t kSlots = 1;
  double rho = 0, epsilon = 0;

  template <class T>
  struct Step {
    T rate, decay, rho, rest, epsilon;
    TY_HD void operator()(T gradient, Element<T>& e) const {
      const T g = gradient + decay * e.weight;
      e.first = rho * e.first + rest * g * g;
      e.weight -= rate * g / (math::sqrt(e.first) + epsilon);
    }
  };
  template <class T>
  TY_HD Step<T> step(double rate, double decay, std::int64_t /*finished*/) const {
    return {static_cast<T>(rate), static_cast<T>(decay), static_cast<T>(rho),
            static_cast<T>(1.0 - rho), static_cast<T>(epsilon)};
  }
};

}  // namespace trainyard

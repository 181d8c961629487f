// The arithmetic of Adagrad (Duchi, Hazan and Singer 2011), epsilon outside the root as in Keras
// and torch:  a = a + g g;  w -= lr g / (sqrt(a) + eps)
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/math.h"
#include "optim/element.h"

namespace trainyard {

struct AdagradRule {
  static constexpr std::size_t kSlots = 1;
  double epsilon = 0;

  template <class T>
  struct Step {
    T rate, decay, epsilon;
    TY_HD void operator()(T gradient, Element<T>& e) const {
      const T g = gradient + decay * e.weight;
      e.first += g * g;
      e.weight -= rate * g / (math::sqrt(e.first) + epsilon);
    }
  };
  template <class T>
  TY_HD Step<T> step(double rate, double decay, std::int64_t /*finished*/) const {
    return {static_cast<T>(rate), static_cast<T>(decay), static_cast<T>(epsilon)};
  }
};

}  // namespace trainyard

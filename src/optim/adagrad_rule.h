// The arithmetic of Adagrad (Duchi, Hazan and Singer 2011).
//
//   a = a + g g;  w -= lr g / root(a), with the root of root.h
#pragma once

#include <cstddef>

#include "optim/element.h"
#include "optim/root.h"
#include "optim/step_scalars.h"

namespace trainyard {

struct AdagradRule {
  static constexpr std::size_t kSlots = 1;
  SafeRoot root;

  template <class T>
  struct Step {
    T rate, decay;
    RootStep<T> root;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] += g * g;
      e.weight -= rate * g / root(e.state[0]);
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    return {static_cast<T>(scalars.rate), static_cast<T>(scalars.decay), root.step<T>()};
  }
};

}  // namespace trainyard

// The arithmetic of Adam (Kingma and Ba 2015, algorithm 1) and AMSGrad (Reddi et al. 2018).
//
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g g;  t = this step, from 1
//   keras, caffe: w -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + eps)   ("epsilon hat")
//   torch:        w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
//   AMSGrad:      the largest v so far in place of v
#pragma once

#include <cstddef>

#include "base/math.h"
#include "optim/element.h"
#include "optim/integer_power.h"
#include "optim/step_scalars.h"

namespace trainyard {

/// Keras's or torch's form of the rules of Adam's family.
enum class AdamForm { keras, torch };

template <bool keeps_largest>
struct AdamRule {
  static constexpr std::size_t kSlots = keeps_largest ? 3 : 2;
  double beta1 = 0, beta2 = 0, epsilon = 0;
  AdamForm form = AdamForm::keras;

  template <class T>
  struct Step {
    T rate, root_scale, epsilon, beta1, beta2, rest1, rest2, decay;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] = beta1 * e.state[0] + rest1 * g;
      e.state[1] = beta2 * e.state[1] + rest2 * g * g;
      if constexpr (keeps_largest) e.state[2] = math::max(e.state[2], e.state[1]);
      const T square = e.state[keeps_largest ? 2 : 1];
      e.weight -= rate * e.state[0] / (math::sqrt(square) * root_scale + epsilon);
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    const double left1 = 1.0 - integer_power(beta1, scalars.finished + 1);
    const double root2 = math::sqrt(1.0 - integer_power(beta2, scalars.finished + 1));
    const bool torch = form == AdamForm::torch;
    const double scaled = torch ? scalars.rate / left1 : scalars.rate * root2 / left1;
    return {static_cast<T>(scaled),      static_cast<T>(torch ? 1.0 / root2 : 1.0),
            static_cast<T>(epsilon),     static_cast<T>(beta1),
            static_cast<T>(beta2),       static_cast<T>(1.0 - beta1),
            static_cast<T>(1.0 - beta2), static_cast<T>(scalars.decay)};
  }
};

}  // namespace trainyard

// The arithmetic of Adam (Kingma and Ba 2015, algorithm 1).
//
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g g;  t = this step, from 1
//   keras, caffe: w -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + eps)   ("epsilon hat")
//   torch:        w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/math.h"
#include "optim/element.h"

namespace trainyard {

enum class AdamForm { keras, torch };

/// base^exponent by squaring: a fixed sequence of products, so every device gives the same bits.
/// The relative error is below exponent * 2^-52; where that matters the value has long vanished.
TY_HD double integer_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

struct AdamRule {
  static constexpr std::size_t kSlots = 2;
  double beta1 = 0, beta2 = 0, epsilon = 0;
  AdamForm form = AdamForm::keras;

  template <class T>
  struct Step {
    T rate, root_scale, epsilon, beta1, beta2, rest1, rest2, decay;
    TY_HD void operator()(T gradient, Element<T>& e) const {
      const T g = gradient + decay * e.weight;
      e.first = beta1 * e.first + rest1 * g;
      e.second = beta2 * e.second + rest2 * g * g;
      e.weight -= rate * e.first / (math::sqrt(e.second) * root_scale + epsilon);
    }
  };
  template <class T>
  TY_HD Step<T> step(double rate, double decay, std::int64_t finished) const {
    const double left1 = 1.0 - integer_power(beta1, finished + 1);
    const double root2 = math::sqrt(1.0 - integer_power(beta2, finished + 1));
    const bool torch = form == AdamForm::torch;
    const double scaled = torch ? rate / left1 : rate * root2 / left1;
    return {static_cast<T>(scaled),      static_cast<T>(torch ? 1.0 / root2 : 1.0),
            static_cast<T>(epsilon),     static_cast<T>(beta1),
            static_cast<T>(beta2),       static_cast<T>(1.0 - beta1),
            static_cast<T>(1.0 - beta2), static_cast<T>(decay)};
  }
};

}  // namespace trainyard

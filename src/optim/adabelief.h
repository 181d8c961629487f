// AdaBelief (Zhuang et al. 2020, algorithm 2), as timm's adabelief: decoupled decay, no
// rectification.
//
//   m = b1 m + (1 - b1) g;  s = b2 s + (1 - b2) (g - m)^2 + eps;  t = this step, from 1
//   w -= lr (m / (1 - b1^t)) / (sqrt(s / (1 - b2^t)) + eps)
#pragma once

#include "base/math.h"
#include "optim/adam.h"
#include "optim/rule_parts.h"
#include "optim/settings.h"

namespace trainyard {

struct AdaBelief {
  static constexpr std::string_view kName = "adabelief";
  static constexpr std::string_view kHelp =
      "adam by the gradient's distance from its running mean (Zhuang et al. 2020)";
  static constexpr std::size_t kSlots = 2;
  double beta1 = 0, beta2 = 0, epsilon = 0;

  template <class T>
  struct Step {
    T rate, root_scale, epsilon, beta1, beta2, rest1, rest2, decay;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] = beta1 * e.state[0] + rest1 * g;
      const T off = g - e.state[0];
      e.state[1] = beta2 * e.state[1] + rest2 * off * off + epsilon;
      e.weight -= rate * e.state[0] / (math::sqrt(e.state[1]) * root_scale + epsilon);
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    const double left1 = 1.0 - integer_power(beta1, scalars.finished + 1);
    const double left2 = 1.0 - integer_power(beta2, scalars.finished + 1);
    return {static_cast<T>(scalars.rate / left1),
            static_cast<T>(1.0 / math::sqrt(left2)),
            static_cast<T>(epsilon),
            static_cast<T>(beta1),
            static_cast<T>(beta2),
            static_cast<T>(1.0 - beta1),
            static_cast<T>(1.0 - beta2),
            static_cast<T>(scalars.decay)};
  }
  static AdaBelief read(config::Fields& fields, OptimizerSettings& adabelief) {
    AdamKeys keys{.epsilon = 1e-16};
    adabelief.rate = 1e-3;
    adabelief.weight_decay.decoupled = true;
    declare_rate(fields, adabelief);
    keys.declare_means(fields);
    declare_decays(fields, adabelief);
    adabelief.slots = {{"mean"}, {"belief"}};
    return {keys.beta1, keys.beta2, keys.epsilon};
  }
};

}  // namespace trainyard

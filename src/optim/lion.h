// Lion (Chen et al. 2023, algorithm 2), as in lucidrains' lion-pytorch and timm.
//
//   u = sign(b1 m + (1 - b1) g);  m = b2 m + (1 - b2) g;  w -= lr u, after the decoupled decay
//
// sign(0) is 0, as torch's. The means are computed as g + b (m - g), which takes fewer registers.
#pragma once

#include "optim/rule_parts.h"
#include "optim/settings.h"

namespace trainyard {

struct Lion {
  static constexpr std::string_view kName = "lion";
  static constexpr std::string_view kHelp =
      "sign of a running mean, with decoupled weight decay (Chen et al. 2023)";
  static constexpr std::size_t kSlots = 1;
  double beta1 = 0.9, beta2 = 0.99;

  template <class T>
  struct Step {
    T rate, decay, beta1, beta2;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      const T mean = g + beta1 * (e.state[0] - g);
      e.state[0] = g + beta2 * (e.state[0] - g);
      e.weight -= mean > T(0) ? rate : mean < T(0) ? -rate : T(0);
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    return {static_cast<T>(scalars.rate), static_cast<T>(scalars.decay), static_cast<T>(beta1),
            static_cast<T>(beta2)};
  }
  static Lion read(config::Fields& fields, OptimizerSettings& lion) {
    Lion rule;
    lion.rate = 1e-4;
    lion.weight_decay.decoupled = true;
    declare_rate(fields, lion);
    declare_mean_weight(fields, "beta1", rule.beta1, "weight of the old mean in the sign");
    declare_mean_weight(fields, "beta2", rule.beta2, "weight of the old mean in the new one");
    declare_decays(fields, lion);
    lion.slots = {{"mean"}};
    return rule;
  }
};

}  // namespace trainyard

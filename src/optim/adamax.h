// Adamax (Kingma and Ba 2015, algorithm 2).
//
//   m = b1 m + (1 - b1) g;  t = this step, from 1
//   keras: u = max(b2 u, |g|);        w -= lr / (1 - b1^t) m / (u + eps)
//   torch: u = max(b2 u, |g| + eps);  w -= lr / (1 - b1^t) m / u
#pragma once

#include "base/math.h"
#include "optim/adam.h"
#include "optim/rule_parts.h"
#include "optim/settings.h"

namespace trainyard {

struct Adamax {
  static constexpr std::string_view kName = "adamax";
  static constexpr std::string_view kHelp =
      "running mean over the largest gradient (Kingma and Ba 2015)";
  static constexpr std::size_t kSlots = 2;
  double beta1 = 0, beta2 = 0, epsilon = 0;
  AdamForm form = AdamForm::keras;

  template <class T>
  struct Step {
    T rate, in_maximum, in_divisor, beta1, beta2, rest1, decay;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] = beta1 * e.state[0] + rest1 * g;
      e.state[1] = math::max(beta2 * e.state[1], math::abs(g) + in_maximum);
      e.weight -= rate * e.state[0] / (e.state[1] + in_divisor);
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    const double left1 = 1.0 - integer_power(beta1, scalars.finished + 1);
    const bool torch = form == AdamForm::torch;
    return {static_cast<T>(scalars.rate / left1),
            static_cast<T>(torch ? epsilon : 0.0),
            static_cast<T>(torch ? 0.0 : epsilon),
            static_cast<T>(beta1),
            static_cast<T>(beta2),
            static_cast<T>(1.0 - beta1),
            static_cast<T>(scalars.decay)};
  }
  static Adamax read(config::Fields& fields, OptimizerSettings& adamax) {
    AdamKeys keys;
    adamax.rate = 2e-3;
    keys.follow(fields.profile());
    declare_rate(fields, adamax);
    keys.declare_means(fields);
    fields.field("form", keys.form,
                 "keras: epsilon added to the largest gradient; torch: to each gradient before the "
                 "largest is taken");
    declare_decays(fields, adamax);
    adamax.slots = {{"mean"}, {"largest"}};
    return {keys.beta1, keys.beta2, keys.epsilon, keys.form};
  }
};

}  // namespace trainyard

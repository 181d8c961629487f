// Adadelta (Zeiler 2012), as in Keras, torch and Caffe.
//
//   a = rho a + (1 - rho) g g;  u = g sqrt(d + eps) / sqrt(a + eps);  w -= lr u
//   d = rho d + (1 - rho) u u
#pragma once

#include "base/math.h"
#include "optim/rule_parts.h"
#include "optim/settings.h"

namespace trainyard {

struct Adadelta {
  static constexpr std::string_view kName = "adadelta";
  static constexpr std::string_view kHelp =
      "gradient times the running size of changes over that of gradients (Zeiler 2012)";
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
  static Adadelta read(config::Fields& fields, OptimizerSettings& adadelta) {
    Adadelta rule{.rho = 0.95, .epsilon = 1e-7};
    adadelta.rate = 1;
    if (fields.profile() == config::Profile::torch) rule = {.rho = 0.9, .epsilon = 1e-6};
    if (fields.profile() == config::Profile::mxnet) {
      rule = {.rho = 0.9, .epsilon = 1e-5};
      adadelta.weight_decay.decoupled = true;
    }
    declare_rate(fields, adadelta);
    declare_mean_weight(fields, "rho", rule.rho, "weight of the old mean squares");
    fields.field("epsilon", rule.epsilon, "added to both mean squares under their roots",
                 {.minimum = 0, .exclusive_minimum = true});
    declare_decays(fields, adadelta);
    adadelta.slots = {{"square"}, {"square_change"}};
    return rule;
  }
};

}  // namespace trainyard

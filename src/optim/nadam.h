// Nadam (Dozat 2016) with a momentum schedule, as in Keras and torch.
//
//   mu(t) = b1 (1 - 0.5 0.96^(t s)), s the schedule_decay;  M(t) = mu(1) ... mu(t);  t from 1
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g g
//   n = (1 - mu(t)) g / (1 - M(t)) + mu(t + 1) m / (1 - M(t + 1))
//   w -= lr n / (sqrt(v / (1 - b2^t)) + eps)
#pragma once

#include <cmath>

#include "base/math.h"
#include "optim/adam.h"
#include "optim/rule_parts.h"
#include "optim/settings.h"

namespace trainyard {

struct Nadam {
  static constexpr std::string_view kName = "nadam";
  static constexpr std::string_view kHelp =
      "adam with Nesterov's momentum on a schedule (Dozat 2016)";
  static constexpr std::size_t kSlots = 2;
  double beta1 = 0, beta2 = 0, epsilon = 0;
  double schedule_base = 1;  // 0.96^s

  [[nodiscard]] TY_HD double mu(std::int64_t t) const {
    return beta1 * (1.0 - 0.5 * integer_power(schedule_base, t));
  }
  /// M(t), from M(t - 1) and t - 1: see rules.h.
  [[nodiscard]] TY_HD double advanced(double product, std::int64_t finished) const {
    return product * mu(finished + 1);
  }

  template <class T>
  struct Step {
    T rate, of_gradient, of_mean, root_scale, epsilon, beta1, beta2, rest1, rest2, decay;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] = beta1 * e.state[0] + rest1 * g;
      e.state[1] = beta2 * e.state[1] + rest2 * g * g;
      const T direction = of_gradient * g + of_mean * e.state[0];
      e.weight -= rate * direction / (math::sqrt(e.state[1]) * root_scale + epsilon);
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    const std::int64_t t = scalars.finished + 1;
    const double product = advanced(scalars.running, scalars.finished);
    const double next = mu(t + 1);
    return {static_cast<T>(scalars.rate),
            static_cast<T>((1.0 - mu(t)) / (1.0 - product)),
            static_cast<T>(next / (1.0 - product * next)),
            static_cast<T>(1.0 / math::sqrt(1.0 - integer_power(beta2, t))),
            static_cast<T>(epsilon),
            static_cast<T>(beta1),
            static_cast<T>(beta2),
            static_cast<T>(1.0 - beta1),
            static_cast<T>(1.0 - beta2),
            static_cast<T>(scalars.decay)};
  }
  static Nadam read(config::Fields& fields, OptimizerSettings& nadam) {
    AdamKeys keys;
    double schedule_decay = 0.004;
    nadam.rate = 2e-3;
    keys.follow(fields.profile());
    declare_rate(fields, nadam);
    keys.declare_means(fields);
    fields.field("schedule_decay", schedule_decay,
                 "s in the momentum of step t, beta1 * (1 - 0.5 * 0.96^(t * s))", {.minimum = 0});
    declare_decays(fields, nadam);
    nadam.slots = {{"mean"}, {"square"}};
    return {keys.beta1, keys.beta2, keys.epsilon, std::pow(0.96, schedule_decay)};
  }
};

}  // namespace trainyard

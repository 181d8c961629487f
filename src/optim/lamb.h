// LAMB (You et al. 2020, version 5, algorithm 2), as in NVIDIA's apex.
//
//   u = (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) + decay w, with Adam's m and v
//   ratio = ||w|| / ||u||, 1 where a norm or the decay is 0
//   w -= lr ratio u
#pragma once

#include "optim/adam.h"
#include "optim/rule_parts.h"
#include "optim/settings.h"
#include "optim/sgd.h"

namespace trainyard {

struct Lamb {
  static constexpr std::string_view kName = "lamb";
  static constexpr std::string_view kHelp =
      "adam with a rate for each parameter by its norms (You et al. 2020)";
  static constexpr std::size_t kSlots = AdamRule<false>::kSlots;
  AdamRule<false> adam;  // in torch's form

  /// u: Adam's step of rate -1 from decay * w.
  template <class T>
  struct Direction {
    AdamRule<false>::Step<T> adam;
    T decay;
    TY_HD T operator()(T gradient, Element<T, kSlots>& e) const {
      e.weight = decay * e.weight;
      adam(gradient, e);
      return e.weight;
    }
  };
  template <class T>
  TY_HD Direction<T> direction(const StepScalars& scalars) const {
    return {adam.step<T>({.rate = -1, .finished = scalars.finished}),
            static_cast<T>(scalars.decay)};
  }
  [[nodiscard]] TY_HD double trust_ratio(double weights, double direction,
                                         const WeightDecays& decay) const {
    const bool decays = decay.added != 0 || decay.decoupled != 0;
    return decays && weights > 0 && direction > 0 ? weights / direction : 1;
  }
  template <class T>
  TY_HD PlainRule::Step<T> step(const StepScalars& scalars) const {
    return PlainRule{}.step<T>({.rate = scalars.rate});
  }
  static Lamb read(config::Fields& fields, OptimizerSettings& lamb) {
    AdamKeys keys{.epsilon = 1e-6, .form = AdamForm::torch};
    lamb.rate = 1e-3;
    lamb.weight_decay.amount = 0.01;
    declare_rate(fields, lamb);
    keys.declare_means(fields);
    declare_ratio_groups(fields, lamb);
    declare_decays(fields, lamb);
    lamb.slots = {{"mean"}, {"square"}};
    return {keys.rule<false>()};
  }
};

}  // namespace trainyard

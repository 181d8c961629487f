// LARS (You, Gitman and Ginsburg 2017), in MXNet's form, which MLPerf's takes.
//
//   ratio = eta ||w|| / (||g|| + decay ||w|| + eps), 1 where a norm is 0
//   the step of sgd.h with the rate lr * ratio: v = m v + lr ratio (g + decay w);  w -= v
#pragma once

#include "optim/rule_parts.h"
#include "optim/settings.h"
#include "optim/sgd.h"

namespace trainyard {

struct Lars {
  static constexpr std::string_view kName = "lars";
  static constexpr std::string_view kHelp =
      "momentum with a rate for each parameter by its norms (You et al. 2017)";
  static constexpr std::size_t kSlots = MomentumRule::kSlots;
  MomentumRule momentum;
  double eta = 0, epsilon = 0;

  [[nodiscard]] TY_HD double trust_ratio(double weights, double gradients,
                                         const WeightDecays& decay) const {
    if (!(weights > 0 && gradients > 0)) return 1;
    return eta * weights / (gradients + decay.added * weights + epsilon);
  }
  template <class T>
  TY_HD MomentumRule::Step<T> step(const StepScalars& scalars) const {
    return momentum.step<T>(scalars);
  }
  static Lars read(config::Fields& fields, OptimizerSettings& lars) {
    Lars rule{.momentum = {.momentum = 0.9}, .eta = 1e-3, .epsilon = 1e-8};
    lars.rate = 0.1;
    declare_rate(fields, lars);
    declare_momentum(fields, rule.momentum);
    fields.field("eta", rule.eta, "factor of the trust ratio",
                 {.minimum = 0, .exclusive_minimum = true});
    fields.field("epsilon", rule.epsilon, "added to the divisor of the trust ratio",
                 {.minimum = 0});
    declare_ratio_groups(fields, lars);
    declare_decays(fields, lars);
    lars.slots = {{"momentum"}};
    return rule;
  }
};

}  // namespace trainyard

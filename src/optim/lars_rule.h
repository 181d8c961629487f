// The arithmetic of LARS (You, Gitman and Ginsburg 2017), in MXNet's form, which MLPerf's takes.
//
//   ratio = eta ||w|| / (||g|| + decay ||w|| + eps), 1 where a norm is 0
//   the step of sgd_rule.h with the rate lr * ratio: v = m v + lr ratio (g + decay w);  w -= v
#pragma once

#include <cstddef>

#include "optim/sgd_rule.h"
#include "optim/step_scalars.h"

namespace trainyard {

struct LarsRule {
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
};

}  // namespace trainyard

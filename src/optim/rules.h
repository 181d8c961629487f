// The arithmetic of every optimizer, as plain data for the launchers of any device.
//
// A rule has kSlots (state values per element, any number) and step<T>(StepScalars), which returns
// a functor (gradient, Element<T, kSlots>&) that changes one element. It may have more, each of
// which adds a phase to the step (update.h):
//
//   direction<T>(StepScalars)      a functor (gradient, Element<T, kSlots>&), which changes the
//                                  state and returns what takes the gradient's place. step<T> then
//                                  gets that, and an Element<T, 0>: the weight alone
//   trust_ratio(norm of a parameter's weights, norm of its gradient or direction, its decays)
//                                  what the parameter's rate is multiplied by
//   advanced(number, finished steps)
//                                  the next value of a number that depends on all steps so far, 1
//                                  before the first. It is kept on the device and, being a
//                                  function of the finished steps alone, computed anew when a run
//                                  resumes
#pragma once

#include <variant>

#include "optim/adadelta_rule.h"
#include "optim/adagrad_rule.h"
#include "optim/adam_rule.h"
#include "optim/adamax_rule.h"
#include "optim/lamb_rule.h"
#include "optim/lars_rule.h"
#include "optim/nadam_rule.h"
#include "optim/rmsprop_rule.h"
#include "optim/sgd_rule.h"

namespace trainyard {

using UpdateRule =
    std::variant<PlainRule, MomentumRule, RmspropRule<false, false>, RmspropRule<false, true>,
                 RmspropRule<true, false>, RmspropRule<true, true>, AdamRule<false>, AdamRule<true>,
                 AdamaxRule, NadamRule, AdagradRule, AdadeltaRule, LarsRule, LambRule>;

/// Whether a rule has advanced().
template <class Rule>
concept HasRunningNumber = requires(const Rule& rule) {
  rule.advanced(1.0, std::int64_t{0});
};

/// Whether a rule has direction().
template <class Rule>
concept HasDirection = requires(const Rule& rule) {
  rule.template direction<float>(StepScalars{});
};

/// Whether a rule has trust_ratio().
template <class Rule>
concept HasTrustRatio = requires(const Rule& rule) {
  rule.trust_ratio(1.0, 1.0, WeightDecays{});
};

/// Whether the rule needs UpdateBlocks::norms.
[[nodiscard]] bool needs_norms(const UpdateRule& rule);

/// The running number after `finished` steps; 1 for a rule without one.
[[nodiscard]] double running_number(const UpdateRule& rule, std::int64_t finished);

}  // namespace trainyard

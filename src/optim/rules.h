// The arithmetic of every optimizer, as plain data for the launchers of any device.
//
// A rule has kSlots (state values per element, any number) and step<T>(StepScalars), which returns
// a functor (gradient, Element<T, kSlots>&) that changes one element. A rule that needs a number
// that depends on all steps so far also has advanced(number, finished steps): the number after one
// more step, 1 before the first. It is kept on the device and, being a function of the finished
// steps alone, computed anew when a run resumes.
#pragma once

#include <variant>

#include "optim/adadelta_rule.h"
#include "optim/adagrad_rule.h"
#include "optim/adam_rule.h"
#include "optim/adamax_rule.h"
#include "optim/nadam_rule.h"
#include "optim/rmsprop_rule.h"
#include "optim/sgd_rule.h"

namespace trainyard {

using UpdateRule =
    std::variant<PlainRule, MomentumRule, RmspropRule<false, false>, RmspropRule<false, true>,
                 RmspropRule<true, false>, RmspropRule<true, true>, AdamRule<false>, AdamRule<true>,
                 AdamaxRule, NadamRule, AdagradRule, AdadeltaRule>;

/// Whether a rule has advanced().
template <class Rule>
concept HasRunningNumber = requires(const Rule& rule) {
  rule.advanced(1.0, std::int64_t{0});
};

/// The running number after `finished` steps; 1 for a rule without one.
[[nodiscard]] double running_number(const UpdateRule& rule, std::int64_t finished);

}  // namespace trainyard

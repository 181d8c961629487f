// The arithmetic of every optimizer, as plain data that launchers of any device take.
//
// A rule has kSlots (state blocks, 0 to 2) and step<T>(rate, decay, finished updates), which
// answers a functor (gradient, Element&) that changes one element.
#pragma once

#include <variant>

#include "optim/adam_rule.h"
#include "optim/rmsprop_rule.h"
#include "optim/sgd_rule.h"

namespace trainyard {

using UpdateRule = std::variant<PlainRule, MomentumRule, RmspropRule, AdamRule>;

}  // namespace trainyard

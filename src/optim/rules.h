// The arithmetic of every optimizer, as plain data for the launchers of any device.
//
// A rule has kSlots (state blocks, 0 to 2) and step<T>(learning rate, decay, finished steps), which
// returns a functor (gradient, Element&) that changes one element.
#pragma once

#include <variant>

#include "optim/adagrad_rule.h"
#include "optim/adam_rule.h"
#include "optim/rmsprop_rule.h"
#include "optim/sgd_rule.h"

namespace trainyard {

using UpdateRule = std::variant<PlainRule, MomentumRule, RmspropRule, AdamRule, AdagradRule>;

}  // namespace trainyard

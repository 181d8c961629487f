// Optimizers: how a step changes the flat parameter block.
//
// The folder optim holds optimizers and schedules: a rule per file, lists in rules.h, optimizer.cpp
// and schedule.cpp. They know no rank, no file and no trainer.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "optim/rules.h"
#include "optim/settings.h"

namespace trainyard {

/// A state block: its name in checkpoints ("momentum") and the value of every element before the
/// first step.
struct OptimizerSlot {
  std::string name;
  double start = 0;
};

/// A rule with what all rules have in common, as the run file gives it.
struct Optimizer {
  std::string_view name;  // "sgd"
  double rate = 0;        // base learning rate; the schedule starts from it
  WeightDecay weight_decay;
  std::vector<std::string> ratio_on;  // parameter groups that a rule's trust ratio applies to
  /// Keras's decay: the learning rate is divided by 1 + time_decay * finished steps.
  double time_decay = 0;
  std::vector<OptimizerSlot> slots;  // Rule::kSlots of the rule
  UpdateRule rule;
};

[[nodiscard]] std::span<const config::Kind<Optimizer>> optimizer_kinds();

}  // namespace trainyard

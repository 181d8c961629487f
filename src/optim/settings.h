// What all optimizers have in common, and the keys that several of them share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "ops/op.h"
#include "optim/rule_parts.h"

namespace trainyard {

/// Weight decay and the parameter groups it applies to: added to the gradient as decay * w, or
/// decoupled, w *= 1 - lr * decay before the rule.
struct WeightDecay {
  double amount = 0;
  std::vector<std::string> on{"kernel"};
  bool decoupled = false;

  /// `amount` where the group is in `on`, else 0.
  [[nodiscard]] double of(ParameterGroup group) const;
};

/// A state block: its name in checkpoints ("momentum") and the value of every element before the
/// first step.
struct OptimizerSlot {
  std::string name;
  double start = 0;
};

/// An optimizer as the run file gives it, but for its rule.
struct OptimizerSettings {
  std::string_view name;  // "sgd"
  double rate = 0;        // base learning rate; the schedule starts from it
  WeightDecay weight_decay;
  std::vector<std::string> ratio_on;  // parameter groups that a rule's trust ratio applies to
  /// Keras's decay: the learning rate is divided by 1 + time_decay * finished steps.
  double time_decay = 0;
  std::vector<OptimizerSlot> slots;  // Rule::kSlots of the rule
};

/// "kernel", "bias", "gamma", "beta".
[[nodiscard]] std::string_view word_of(ParameterGroup group);
/// Whether the group's word is one of `words`.
[[nodiscard]] bool is_one_of(ParameterGroup group, const std::vector<std::string>& words);

/// `lr`; the first key of every optimizer.
void declare_rate(config::Fields& fields, OptimizerSettings& optimizer);
/// `ratio_on`, the kernels by default; an unknown group is an error.
void declare_ratio_groups(config::Fields& fields, OptimizerSettings& optimizer);
/// `weight_decay`, `decay_on`, `decoupled_decay` and Keras's `decay`; an unknown group is an error.
void declare_decays(config::Fields& fields, OptimizerSettings& optimizer);
/// `epsilon` of a divisor.
void declare_epsilon(config::Fields& fields, double& epsilon);
/// `epsilon` and `epsilon_place`.
void declare_root(config::Fields& fields, SafeRoot& root);
/// A weight of the old value in a running mean: at least 0 and below 1.
void declare_mean_weight(config::Fields& fields, std::string_view key, double& weight,
                         std::string_view help);

}  // namespace trainyard

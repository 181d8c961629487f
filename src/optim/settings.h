// Keys that several optimizers share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "ops/op.h"
#include "optim/root.h"
#include "optim/sgd_rule.h"

namespace trainyard {

struct Optimizer;

/// Weight decay and the parameter groups it applies to: added to the gradient as decay * w, or
/// decoupled, w *= 1 - lr * decay before the rule.
struct WeightDecay {
  double amount = 0;
  std::vector<std::string> on{"kernel"};
  bool decoupled = false;

  /// `amount` where the group is in `on`, else 0.
  [[nodiscard]] double of(ParameterGroup group) const;
};

/// "kernel", "bias", "gamma", "beta".
[[nodiscard]] std::string_view word_of(ParameterGroup group);
/// Whether the group's word is one of `words`.
[[nodiscard]] bool is_one_of(ParameterGroup group, const std::vector<std::string>& words);

/// `lr`; the first key of every optimizer.
void declare_rate(config::Fields& fields, Optimizer& optimizer);
/// `ratio_on`, the kernels by default; an unknown group is an error.
void declare_ratio_groups(config::Fields& fields, Optimizer& optimizer);
/// `weight_decay`, `decay_on`, `decoupled_decay` and Keras's `decay`; an unknown group is an error.
void declare_decays(config::Fields& fields, Optimizer& optimizer);
/// `epsilon` of a divisor.
void declare_epsilon(config::Fields& fields, double& epsilon);
/// `epsilon` and `epsilon_place`.
void declare_root(config::Fields& fields, SafeRoot& root);
/// `momentum`, `nesterov` and `momentum_form`; Nesterov's without momentum is an error.
void declare_momentum(config::Fields& fields, MomentumRule& rule);
/// `momentum_form`, torch's in its profile.
void declare_momentum_form(config::Fields& fields, MomentumForm& form);
/// A weight of the old value in a running mean: at least 0 and below 1.
void declare_mean_weight(config::Fields& fields, std::string_view key, double& weight,
                         std::string_view help);

}  // namespace trainyard

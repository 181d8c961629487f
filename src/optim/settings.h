// Keys that several optimizers share.
#pragma once

#include <string>
#include <vector>

#include "config/fields.h"
#include "ops/op.h"

namespace trainyard {

/// Weight decay (added to the gradient as decay * w) and the parameter groups it applies to.
struct WeightDecay {
  double amount = 0;
  std::vector<std::string> on{"kernel"};

  /// `amount` where the group is in `on`, else 0.
  [[nodiscard]] double of(ParameterGroup group) const;
};

/// "kernel", "bias", "gamma", "beta".
[[nodiscard]] std::string_view word_of(ParameterGroup group);

/// `weight_decay` and `decay_on`; an unknown group is an error.
void declare_weight_decay(config::Fields& fields, WeightDecay& decay);
/// `decay`: Keras's time-based decay, lr / (1 + decay * finished steps).
void declare_time_decay(config::Fields& fields, double& decay);

}  // namespace trainyard

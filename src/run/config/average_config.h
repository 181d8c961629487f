// The average of the weights, as a run file says.
#pragma once

#include "config/fields.h"

namespace trainyard {

struct AverageConfig {
  double ema = 0.999;  // see AverageRule, like warmup
  bool warmup = false;
  /// The copy that is evaluated, chosen as the best, and saved as the run's weights.
  enum class Judged { average, trained } judged = Judged::average;
};

void declare(config::Fields& fields, AverageConfig& average);

}  // namespace trainyard

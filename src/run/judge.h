// What says that a model is better than another of the same run.
#pragma once

#include <span>
#include <string>

#include "run/run_config.h"

namespace trainyard {

/// Which metric says that a model is better.
struct Judge {
  int metric = -1;  // index into the metrics, -1: the loss
  bool larger_is_better = true;
  double min_delta = 0;
};

/// What `checkpoint.best` and `early_stop` of a run say; left out: the first metric. `names` are
/// the run's metrics. Throws Error{config} for a column that is not measured.
[[nodiscard]] Judge judge_of(const RunConfig& config, std::span<const std::string> names);
/// "val_accuracy", a column of metrics.csv.
[[nodiscard]] std::string judged_column(const Judge& judge, std::span<const std::string> names);

}  // namespace trainyard

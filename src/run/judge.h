// What says that a model is better than another of the same run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "run/run_config.h"

namespace trainyard {

/// Which metric says that a model is better.
struct Judge {
  int metric = -1;  // index into the metrics, -1: the loss
  bool larger_is_better = true;
  double min_delta = 0;
};

/// The columns of metrics.csv that `metrics` fill, in order: "accuracy", "top5_accuracy".
[[nodiscard]] std::vector<std::string> metric_names(std::span<const std::unique_ptr<Op>> metrics);

/// Reports a `checkpoint.best.metric` of `run` that is no column of its validation split, where it
/// stands in `file`.
void check_judge(const RunConfig& run, const config::Node& file, config::Diagnostics& diagnostics);

/// What `checkpoint.best` and `early_stop` of a run say; left out: the first metric. `names` are
/// the run's metrics. The column was checked when the file was read.
[[nodiscard]] Judge judge_of(const RunConfig& config, std::span<const std::string> names);
/// "val_accuracy", a column of metrics.csv.
[[nodiscard]] std::string judged_column(const Judge& judge, std::span<const std::string> names);

}  // namespace trainyard

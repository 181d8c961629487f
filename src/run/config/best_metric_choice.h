// The metrics by which a run selects its best model and lowers its learning rate, as its file says.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "run/config/run_config.h"
#include "train/best_metric.h"

namespace trainyard {

/// The columns of metrics.csv that a run's metrics fill, in order: "accuracy", "aux_accuracy"; then
/// with several losses those of each: "output_loss", "aux_loss".
[[nodiscard]] std::vector<std::string> metric_names(const RunConfig& run);

/// Reports a `checkpoint.best.metric` of `run` that is not a column of its validation split, and a
/// `plateau.monitor` that is not a column, at its position in `file`.
void check_monitored(const RunConfig& run, const config::Node& file,
                     config::Diagnostics& diagnostics);

/// The plateau of a run, if it has one. The column was checked when the file was read.
[[nodiscard]] std::optional<PlateauOptions> plateau_of(const RunConfig& config,
                                                       std::span<const std::string> names);

/// The rule of `checkpoint.best` and `early_stop`; left out: the first metric. `names` are the
/// run's metrics. The column was checked when the file was read.
[[nodiscard]] BestMetric best_metric_of(const RunConfig& config,
                                        std::span<const std::string> names);
/// "val_accuracy", a column of metrics.csv.
[[nodiscard]] std::string best_metric_column(const BestMetric& best,
                                             std::span<const std::string> names);

}  // namespace trainyard

// `train plot RUN...`: the curves of runs in one plot.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/curve_plot.h"
#include "analysis/recorded_run.h"
#include "run/config/run_config.h"

namespace trainyard {

struct CurveChoice {
  /// A panel each: columns of metrics.csv, with their val_ twins. Empty: loss, accuracy, lr,
  /// images_per_s and grad_norm, as far as a run has them.
  std::vector<std::string> columns;
  bool steps = false;  // against steps, with the curves that steps.csv has from there
  double smooth =
      0;  // see smoothed(), of all but lr; the values themselves are drawn faintly behind
  std::string title;  // "": that of the run, or "N runs"
};

/// Each of several runs has a colour, and training is dashed. Throws Error{data} if no run has a
/// value to draw, or with `steps` for a run without steps.csv; Error{command_line} for a column
/// that no run has.
[[nodiscard]] CurvePlot run_curves(std::span<const RecordedRun> runs, const CurveChoice& choice);

// `train plot --schedule CONFIG`: the learning rates of a run that has not begun, without its data.

/// The number of training samples as far as the run file tells it: the `size` of synthetic data,
/// the published size of a known set, at most `limit`. Empty for other sources.
[[nodiscard]] std::optional<std::int64_t> expected_samples(const RunConfig& run);

/// The rate of every step of the run on `ranks` ranks, with the scaling for its global batch; not
/// what `plateau` will make of it. Throws Error{config} as batch_numbers() and Schedule::rate().
[[nodiscard]] CurvePlot schedule_curve(const RunConfig& run, std::int64_t ranks,
                                       std::int64_t samples);

}  // namespace trainyard

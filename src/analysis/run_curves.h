// `train plot RUN...`: the curves of runs in one picture.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/curve_picture.h"
#include "analysis/recorded_run.h"

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

/// Of several runs each has a colour, and training is dashed. Throws Error{data} if no run has a
/// value to draw, or with `steps` for a run without steps.csv; Error{command_line} for a column
/// that no run has.
[[nodiscard]] CurvePicture run_curves(std::span<const RecordedRun> runs, const CurveChoice& choice);

}  // namespace trainyard

// What the runs of a sweep have come to, as one table.
#pragma once

#include <span>
#include <vector>

#include "analysis/recorded_run.h"
#include "analysis/run_table.h"
#include "base/clock.h"
#include "sweep/axis.h"
#include "sweep/sweep.h"

namespace trainyard {

/// A row for each run, in their order, with the keys of the axes. A run that never had a folder, or
/// whose process was not started, is in it too.
[[nodiscard]] RunTable results_of(std::span<const SweepAxis> axes, std::span<const SweepRun> runs,
                                  std::span<const SweepEnd> ends, const Clock& clock);

/// The runs that have finished an epoch, for their curves.
[[nodiscard]] std::vector<RecordedRun> measured_runs(std::span<const SweepRun> runs,
                                                     const Clock& clock);

}  // namespace trainyard

// `train compare --by KEY`: runs that differ in their seed, as one row.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/run_table.h"

namespace trainyard {

/// A row for each combination of values of the keys `by`, with the means over its seeds of the runs
/// that have completed. Of two runs with one seed the later counts. `warn` gets a line for such
/// runs, and for a group whose runs differ in more than the seed. Throws Error{command_line} for a
/// key that no run has.
[[nodiscard]] RunTable group_runs(std::span<const RecordedRun> runs,
                                  const std::vector<std::string>& by,
                                  const std::function<void(const std::string&)>& warn);

}  // namespace trainyard

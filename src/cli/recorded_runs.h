// The runs that an argument list names, for verbs on recorded runs.
#pragma once

#include <string>
#include <vector>

#include "analysis/recorded_run.h"
#include "cli/messages.h"

namespace trainyard::cli {

/// Reads them, and warns of each thing that could not be read. Throws as find_runs().
[[nodiscard]] std::vector<RecordedRun> recorded_runs(const std::vector<std::string>& names,
                                                     Messages& messages);

}  // namespace trainyard::cli

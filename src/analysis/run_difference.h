// `train diff`: what differs between two runs: their resolved configs, and what else determines
// their results.
#pragma once

#include <string>
#include <vector>

#include "analysis/recorded_run.h"
#include "config/difference.h"
#include "formats/json.h"

namespace trainyard {

/// The keys and values: of the configs, without the number of threads, on which no result depends,
/// then the facts that both runs record. Throws Error{data} for a run whose config cannot be read.
[[nodiscard]] std::vector<config::Difference> run_differences(const RecordedRun& before,
                                                              const RecordedRun& after);

/// For people: a line per key, values in full; or a sentence that there are none.
[[nodiscard]] std::string differences_text(const std::vector<config::Difference>& differences);
/// {"key": {"before": ..., "after": ...}}; null where a run does not have the key.
[[nodiscard]] Json differences_json(const std::vector<config::Difference>& differences);

}  // namespace trainyard

// summary.txt: how a run ended, for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/csv_sink.h"
#include "report/metrics.h"
#include "report/status.h"

namespace trainyard {

/// What the summary says besides the run's last status.
struct SummaryDetails {
  std::string run;                   // the run folder
  std::vector<std::string> changes;  // of its config, by --set and flags: "epochs=2"
  double seconds = 0;
  std::vector<NamedValue> best_values;  // of all validation columns in the best epoch
  std::vector<NamedValue> last;         // losses and metrics of the last finished epoch
  EpochValues clean;                    // of the last clean pass over training samples, if any
  std::vector<std::string> warnings;
};

/// One line per fact, "name: value"; unknown facts are left out.
[[nodiscard]] std::string summary_text(const RunStatus& status, const SummaryDetails& details);

}  // namespace trainyard

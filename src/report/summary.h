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

struct RunSummary {
  std::string run;                   // the run folder
  std::vector<std::string> changes;  // of its config, by --set and flags: "epochs=2"
  RunState state = RunState::completed;
  int exit_code = 0;
  std::string message;  // the error, if there was one
  std::int64_t epochs = 0;
  std::int64_t step = 0;
  double seconds = 0;
  std::optional<BestValue> best;
  std::vector<NamedValue> best_values;  // of all validation columns in the best epoch
  std::vector<NamedValue> last;         // losses and metrics of the last finished epoch
  EpochValues clean;                    // of the last clean pass over training samples, if any
  std::string last_checkpoint;
  std::vector<std::string> warnings;
};

/// One line per fact, "name: value"; unknown facts are left out.
[[nodiscard]] std::string summary_text(const RunSummary& summary);

}  // namespace trainyard

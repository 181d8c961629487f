#include "cli/recorded_runs.h"

namespace trainyard::cli {

std::vector<RecordedRun> recorded_runs(const std::vector<std::string>& names, Messages& messages) {
  std::vector<RecordedRun> runs = read_recorded_runs(names, SystemClock());
  for (const RecordedRun& run : runs) {
    for (const std::string& problem : run.problems) messages.warn(problem);
  }
  return runs;
}

}  // namespace trainyard::cli

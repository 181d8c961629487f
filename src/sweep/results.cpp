#include "sweep/results.h"

#include <utility>
#include <vector>

#include "analysis/recorded_run.h"
#include "run/run_folder.h"

namespace trainyard {

RunTable results_of(std::span<const SweepAxis> axes, std::span<const SweepRun> runs,
                    std::span<const SweepEnd> ends, const Clock& clock) {
  std::vector<RecordedRun> records;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (is_run_folder(runs[i].folder)) {
      records.push_back(read_recorded_run(runs[i].folder, clock));
      continue;
    }
    RecordedRun record{.folder = runs[i].folder, .state = std::string(name_of(ends[i].outcome))};
    if (ends[i].outcome == SweepOutcome::failed) record.exit_code = ends[i].exit_code;
    records.push_back(std::move(record));
  }
  std::vector<std::string> keys;
  for (const SweepAxis& axis : axes) keys.push_back(axis.key);
  RunTable table = tabulate(records, std::move(keys));
  // As typed: a config that was never written has none, and the others may spell numbers otherwise.
  for (std::size_t i = 0; i < runs.size(); ++i) table.rows[i].values = runs[i].point.values;
  return table;
}

std::vector<RecordedRun> measured_runs(std::span<const SweepRun> runs, const Clock& clock) {
  std::vector<RecordedRun> measured;
  for (const SweepRun& run : runs) {
    if (!is_run_folder(run.folder)) continue;
    RecordedRun record = read_recorded_run(run.folder, clock);
    if (!record.epochs.rows.empty()) measured.push_back(std::move(record));
  }
  return measured;
}

}  // namespace trainyard

#include "run/done_run.h"

#include <map>
#include <vector>

#include "checkpoint/run_identity.h"
#include "run/resume_record.h"

namespace trainyard {

namespace fs = std::filesystem;

std::optional<fs::path> done_run(const fs::path& root, const WantedRun& wanted,
                                 const DataCheck& check, const Opening& opening) {
  std::map<Division, DataFacts> known;  // the data as they are now
  std::vector<std::string> changes;     // of the newest
  fs::path changed;
  for (const fs::path& folder : completed_runs(root, wanted.config.name, wanted.hash)) {
    if (!trained_with(folder, wanted.global_batch)) continue;
    Opening own = opening;
    own.division = recorded_division(folder);
    auto now = known.find(own.division);
    if (now == known.end()) now = known.emplace(own.division, open_facts(wanted.config, own)).first;
    std::vector<std::string> found =
        data_changes(recorded_facts(folder), now->second, check.all_files);
    if (found.empty()) return folder;
    if (changes.empty()) {
      changes = std::move(found);
      changed = folder;
    }
  }
  judge_changes(changes, changed.string() + ", which has completed with this config",
                "start a new run on them as they are now with --changed-data", check, opening.warn);
  return std::nullopt;
}

}  // namespace trainyard

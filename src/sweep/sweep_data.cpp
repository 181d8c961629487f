#include "sweep/sweep_data.h"

#include <utility>

#include "config/node.h"

namespace trainyard {

SweepData::SweepData(Opening opening, const DataCheck& check)
    : opening_(std::move(opening)), check_(check) {}

void SweepData::compare(const SweepRun& run, const RunConfig& config) {
  if (run.before == SweepProgress::none) return;
  opening_.division = recorded_division(run.folder);
  const bool by_name = opening_.division == Division::by_name;
  const std::string key = std::to_string(config.seed) + (by_name ? " by name\n" : " by index\n") +
                          config::to_yaml(*config.settled.find("data"));
  auto found = known_.find(key);
  if (found == known_.end()) {
    opening_.seed = static_cast<std::uint64_t>(config.seed);
    found = known_.emplace(key, open_facts(config, opening_)).first;
  }
  judge_changes(data_changes(recorded_facts(run.folder), found->second, check_.all_files),
                run.folder.string(),
                "give --out another folder for a sweep on them as they are now, or continue this "
                "one with --changed-data",
                check_, opening_.warn);
}

}  // namespace trainyard

#include "sweep/sweep_run.h"

#include <map>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "config/node.h"
#include "report/status.h"
#include "run/config/resolved_config.h"
#include "run/resume_checks.h"
#include "run/run_folder.h"
#include "run/typed_paths.h"

namespace trainyard {

SweepRun sweep_run(const std::filesystem::path& sweep, std::span<const SweepAxis> axes,
                   SweepPoint point) {
  SweepRun run{.overrides = point_overrides(axes, point),
               .folder = sweep / "runs" / point.name,
               .log = sweep / "logs" / (point.name + ".log")};
  run.point = std::move(point);
  return run;
}

SweepProgress progress_of(const SweepRun& run, const RunConfig& given, const std::string& file) {
  if (!is_run_folder(run.folder)) {
    RunFolder::require_place_at(Disk(), run.folder);
    return SweepProgress::none;
  }
  require_config_of_run(given, file + " with " + run.point.name, read_config_of_run(run.folder, {}),
                        run.folder);
  if (is_locked(run.folder)) {
    refuse_command("another process is training " + run.folder.string() +
                   "; wait until it ends, or give --out another folder");
  }
  const auto status = read_status(run.folder / "status.json");
  if (!status) return SweepProgress::unfinished;
  if (status->state == RunState::completed) return SweepProgress::completed;
  if (status->state == RunState::diverged) return SweepProgress::diverged;
  return SweepProgress::unfinished;
}

void require_different(const std::vector<SweepRun>& runs, const std::vector<RunConfig>& configs) {
  std::map<std::string, std::string> known;  // resolved config: name
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string& name = runs[i].point.name;
    const auto [other, is_new] = known.emplace(resolved_yaml(configs[i]), name);
    if (is_new) continue;
    refuse_command("the runs " + other->second + " and " + name +
                   " have the same config; leave out one of the values that mean the same");
  }
}

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

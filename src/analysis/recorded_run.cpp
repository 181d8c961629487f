#include "analysis/recorded_run.h"

#include <glob.h>

#include <algorithm>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "checkpoint/run_identity.h"
#include "config/load.h"
#include "config/near_file.h"
#include "run/config_changes.h"
#include "run/health.h"
#include "run/run_folder.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr const char* kStatusName = "status.json";
/// Of a resolved config: a network in the file may have many layers.
constexpr config::FileLimits kConfigLimits{.bytes = 16 << 20, .nodes = 1'000'000};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// Also one that failed before its config was written, or whose status was lost.
bool is_recorded_run(const fs::path& path) {
  return is_there(path / kStatusName) || (is_there(path / "config.yaml") &&
                                          (is_run_folder(path) || is_there(path / "metrics.csv")));
}

void read_state(RecordedRun& run, const Clock& clock) {
  const RunHealth seen = look_at_run(run.folder, clock);
  run.status = seen.status;
  run.state = seen.verdict;
  run.exit_code = seen.status.exit_code;
}

/// The runs in `folder`, itself included, at most `levels` levels down.
void add_runs(const fs::path& folder, int levels, std::vector<fs::path>& runs) {
  if (is_recorded_run(folder)) {
    runs.push_back(folder);
    return;
  }
  if (levels == 0) return;
  std::vector<fs::path> entries = entries_of(folder);
  std::ranges::sort(entries);
  for (const fs::path& entry : entries) {
    if (is_folder(entry)) add_runs(entry, levels - 1, runs);
  }
}

bool is_pattern(const std::string& argument) {
  return !is_there(argument) && argument.find_first_of("*?[") != std::string::npos;
}

/// The folders that match, sorted.
std::vector<fs::path> matches_of(const std::string& pattern) {
  std::vector<fs::path> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  std::erase_if(paths, [](const fs::path& path) { return !is_folder(path); });
  return paths;
}

/// Why an argument names no run.
std::string refusal_of(const std::string& argument) {
  if (is_pattern(argument)) return "no run matches '" + argument + "'";
  if (!is_there(argument)) {
    return "there is no run folder '" + argument + "'" + config::near_file(argument);
  }
  return "'" + argument + "' is not a run folder, and there are no runs in it";
}

std::vector<fs::path> runs_of(const std::string& argument) {
  constexpr int kLevels = 2;  // runs/NAME/0001
  std::vector<fs::path> runs;
  if (is_pattern(argument)) {
    for (const fs::path& folder : matches_of(argument)) add_runs(folder, kLevels, runs);
  } else if (is_folder(argument)) {
    add_runs(argument, kLevels, runs);
  }
  if (runs.empty()) throw Error(ErrorKind::command_line, refusal_of(argument));
  return runs;
}

std::vector<ResultFact> facts_in(const fs::path& run_json) {
  const std::optional<Json> run = run_record(run_json);
  try {
    return run ? result_facts(*run) : std::vector<ResultFact>();
  } catch (const Json::exception&) {
    return {};  // not a record of ours
  }
}

}  // namespace

std::optional<std::string> fact_of(const RecordedRun& run, const std::string& key) {
  const auto found = std::ranges::find(run.facts, key, &ResultFact::key);
  return found == run.facts.end() ? std::nullopt : std::optional(found->value);
}

RecordedRun read_recorded_run(const fs::path& folder, const Clock& clock) {
  RecordedRun run{.folder = folder, .state = "unknown"};
  const auto attempt = [&run](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      run.problems.emplace_back(error.what());
    }
  };
  if (is_there(folder / kStatusName)) {
    attempt([&] { read_state(run, clock); });
  } else {
    run.problems.push_back("'" + folder.string() +
                           "' has no status.json: how its run ended is not known");
  }
  attempt([&] { run.config = config::load_yaml(folder / "config.yaml", kConfigLimits); });
  for (const std::string& change : changes_of(folder / "run.json")) {
    run.changed.push_back(change.substr(0, change.find('=')));
  }
  run.facts = facts_in(folder / "run.json");
  attempt([&] { run.epochs = read_csv_table(folder / "metrics.csv"); });
  return run;
}

std::vector<fs::path> find_runs(std::span<const std::string> arguments) {
  std::vector<fs::path> runs;
  std::set<fs::path> known;
  for (const std::string& argument : arguments) {
    for (const fs::path& run : runs_of(argument)) {
      if (known.insert(fs::weakly_canonical(run)).second) runs.push_back(run);
    }
  }
  return runs;
}

std::vector<RecordedRun> read_recorded_runs(std::span<const std::string> arguments,
                                            const Clock& clock) {
  std::vector<RecordedRun> runs;
  for (const fs::path& folder : find_runs(arguments)) {
    runs.push_back(read_recorded_run(folder, clock));
  }
  return runs;
}

}  // namespace trainyard

#include "analysis/recorded_run.h"

#include <glob.h>

#include <algorithm>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "base/text.h"
#include "checkpoint/run_identity.h"
#include "config/file_path.h"
#include "config/load.h"
#include "run/config_changes.h"
#include "run/health.h"
#include "run/run_folder.h"

namespace trainyard {
namespace {

constexpr const char* kStatusName = "status.json";
/// Limits of a resolved config: its network may have many layers.
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
  if (runs.empty()) refuse_command(refusal_of(argument));
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

namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The values of a key at the start of a run and at its resumes, each once.
std::string values_text(const Json& run, const std::string& key) {
  std::vector<std::string> values = {text_of(run.at(key))};
  for (const Json& resume : run.value("resumes", Json::array())) {
    if (!resume.contains(key)) continue;
    const std::string value = text_of(resume.at(key));
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return joined(values);
}

/// "cpu, oneDNN 2.6.3, 0f3a...": the device, its libraries and the hash of the engines chosen.
std::string kernels_text(const Json& run) {
  const std::string device = run.value("device", "");
  std::string text = device == "reference" ? device : run.value("target", device);
  const std::string libraries = run.value("libraries", "");
  if (!libraries.empty()) text += ", " + libraries;
  const Json choices = run.value("choices", Json::object());
  return choices.empty() ? text : text + ", " + hash128_hex(choices.dump());
}

}  // namespace

const std::vector<std::string>& result_fact_keys() {
  static const std::vector<std::string> kKeys = {
      "run.init",     "run.ranks",   "run.global_batch", "run.train_data",
      "run.val_data", "run.kernels", "run.version"};
  return kKeys;
}

std::vector<ResultFact> result_facts(const Json& run) {
  const Json init = run.value("init", Json::object());
  std::vector<ResultFact> facts = {{"run.init", init.value("hash", "")}};
  const auto add = [&](const std::string& key, const std::string& name, const auto& text) {
    if (run.contains(name)) facts.push_back({key, text(run, name)});
  };
  const auto value = [](const Json& from, const std::string& name) {
    return text_of(from.at(name));
  };
  const auto kernels = [](const Json& from, const std::string&) { return kernels_text(from); };
  add("run.ranks", "ranks", values_text);
  add("run.global_batch", "global_batch", values_text);
  add("run.train_data", "train_fingerprint", value);
  add("run.val_data", "val_fingerprint", value);
  add("run.kernels", "target", kernels);
  add("run.version", "version", values_text);
  return facts;
}

namespace {

constexpr std::uint64_t kMostTableBytes = std::uint64_t{4} << 30;

/// A field as a number; `place` is for the message about one that is none.
std::optional<double> number_of(const std::string& field, const std::string& place) {
  if (field.empty() || field == "nan" || field == "inf" || field == "-inf") return std::nullopt;
  const auto number = parse_real(field);
  if (number) return number;
  throw data_error(place + ": expected a number, found '" + shortened(field) +
                   "'; fix or remove the line");
}

}  // namespace

std::optional<std::size_t> CsvTable::find(std::string_view column) const {
  const auto found = std::ranges::find(columns, column);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

std::vector<std::optional<double>> CsvTable::values(std::string_view column) const {
  std::vector<std::optional<double>> values;
  const auto index = find(column);
  if (!index) return values;
  for (const auto& row : rows) values.push_back(row[*index]);
  return values;
}

CsvTable read_csv_table(const fs::path& path) {
  CsvTable table;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return table;
  std::vector<std::string> lines = split(read_text(path, ErrorKind::data, kMostTableBytes), '\n');
  lines.pop_back();  // what follows the last line feed
  if (lines.empty()) return table;
  table.columns = split(lines[0], ',');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string place = path.string() + ":" + std::to_string(i + 1) + ":1";
    const std::vector<std::string> fields = split(lines[i], ',');
    if (fields.size() != table.columns.size()) {
      throw data_error(place + ": expected " + std::to_string(table.columns.size()) +
                       " fields, as the first line has, found " + std::to_string(fields.size()) +
                       "; fix or remove the line");
    }
    auto& row = table.rows.emplace_back();
    for (const std::string& field : fields) row.push_back(number_of(field, place));
  }
  return table;
}

}  // namespace trainyard

// What a run's folder records of its config: how it changed, at its start and by its resumes, and
// its paths as they were typed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "config/node.h"
#include "formats/json.h"
#include "run/config/run_config.h"
#include "run/run_folder.h"

namespace trainyard {

/// A resume that changes the config of a run.
struct ConfigChange {
  std::string config_yaml;                      // the new config, resolved
  std::string config_hash;                      // hash of the new config
  std::vector<config::Difference> differences;  // from the previous config
  Json paths;                                   // typed_paths() of it
  std::string command;                          // as typed
  std::int64_t epoch = 1;                       // first one trained with it, perhaps in part
  std::int64_t step = 1;                        // first one trained with it
};

/// The changes of a run's file by --set and the flags that are short for it, "epochs=6", one per
/// key, in the order in which they were made: at its start, and then by its resumes. Empty if
/// `run_json` cannot be read.
[[nodiscard]] std::vector<std::string> changes_of(const std::filesystem::path& run_json);

/// Records the change in the run: the former config is saved as config.N.yaml, run.json gets an
/// entry in "config_changes", metrics.changes.csv one line per key, config.yaml is replaced last.
/// Returns a warning if run.json cannot be read and is left unchanged; else "". Throws Error{disk}.
[[nodiscard]] std::string record_change(const RunFolder& folder, const ConfigChange& change);

// config.yaml has absolute paths, so that it can be used from anywhere. What decides whether two
// configs are the same is what was typed, since a project may lie elsewhere on another host, or be
// moved: run.json keeps that.

/// The key of run.json that has the paths as they were typed.
inline constexpr const char* kTypedPaths = "paths";

/// Each path by its key: {"data.train.root": {"typed": "d", "path": "/home/me/d"}}.
[[nodiscard]] Json typed_paths(const config::Node& settled);

/// The config of a run folder, with its paths as they were typed when the run began.
[[nodiscard]] RunConfig read_config_of_run(const std::filesystem::path& folder,
                                           std::span<const std::string> overrides);

/// The changes by which the paths of `run` become those of `given`, where the same words name
/// another place: "data.train.root=/home/me/d".
[[nodiscard]] std::vector<std::string> moved_paths(const RunConfig& run, const RunConfig& given);
/// Makes paths of `run` that are those of `given` count as typed there.
void take_typed_paths(RunConfig& run, const RunConfig& given);

}  // namespace trainyard

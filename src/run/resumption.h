// What a resume asks of a run folder before it trains, and what it leaves in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/config/resolved_config.h"
#include "run/run_folder.h"

namespace trainyard {

/// Says that the run of `folder` is complete and how to train further; empty if `wanted`, its
/// config with the overrides of this resume, leaves something to train.
[[nodiscard]] std::optional<std::string> completion_text(const std::filesystem::path& folder,
                                                         const RunConfig& wanted);

/// Throws Error{command_line} with the differences unless `given`, the config that `name` was typed
/// for, is that of the run. What the machine decides where a file says nothing (threads, precision)
/// may differ.
void require_config_of_run(RunConfig given, const std::string& name, const RunConfig& run,
                           const std::filesystem::path& folder);

/// A resume that changes the config of a run.
struct ConfigChange {
  std::string config_yaml;                      // the config from now on, resolved
  std::string config_hash;                      // of it
  std::vector<config::Difference> differences;  // from the one before
  std::string command;                          // as typed
  std::int64_t epoch = 1;  // first one that is trained with it, perhaps in part
  std::int64_t step = 1;   // first one that is trained with it
};

/// What --set and the flags that are short for it have changed of a run's file, "epochs=6", a key
/// once, in the order in which they came: from its start, and then from its resumes. Empty if
/// `run_json` cannot be read.
[[nodiscard]] std::vector<std::string> changes_of(const std::filesystem::path& run_json);

/// Makes the change part of the run: the former config stays as config.N.yaml, run.json gets an
/// entry in "config_changes", metrics.changes.csv a line a key, config.yaml is replaced last.
/// Returns a warning if run.json cannot be read and so stays as it is; else "". Throws Error{disk}.
[[nodiscard]] std::string record_change(const RunFolder& folder, const ConfigChange& change);

}  // namespace trainyard

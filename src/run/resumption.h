// What a resume checks in a run folder before it trains, and what it writes there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/config/resolved_config.h"
#include "run/run_folder.h"

namespace trainyard {

/// A text saying that the run of `folder` is complete and how to train further; empty if `wanted`,
/// its config with the overrides of this resume, leaves something to train.
[[nodiscard]] std::optional<std::string> completion_text(const std::filesystem::path& folder,
                                                         const RunConfig& wanted);

/// Throws Error{command_line} with the differences unless `given`, the config typed as `name`, is
/// that of the run. Values that the machine decides if a file has none (threads, precision) may
/// differ.
void require_config_of_run(RunConfig given, const std::string& name, const RunConfig& run,
                           const std::filesystem::path& folder);

/// A resume that changes the config of a run.
struct ConfigChange {
  std::string config_yaml;                      // the new config, resolved
  std::string config_hash;                      // of the new config
  std::vector<config::Difference> differences;  // from the previous config
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

}  // namespace trainyard

// How the config of a run changed, at its start and by its resumes, as its folder records it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "config/difference.h"
#include "formats/json.h"
#include "run/run_folder.h"

namespace trainyard {

/// A resume that changes the config of a run.
struct ConfigChange {
  std::string config_yaml;                      // the new config, resolved
  std::string config_hash;                      // of the new config
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

}  // namespace trainyard

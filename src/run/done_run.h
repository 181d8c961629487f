// Runs that need not be repeated: `--skip-done`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "run/data_changes.h"

namespace trainyard {

/// What decides whether a run is done, besides its data.
struct WantedRun {
  const RunConfig& config;
  std::string hash;  // config_hash(): of the config and of the weights of --init
  std::int64_t global_batch = 1;
};

/// The newest run of `root`/NAME that completed with this config, global batch and data; empty if
/// there is none. The data are opened only if there is one with everything but them. Then other
/// data are judged by judge_changes(), which may throw.
[[nodiscard]] std::optional<std::filesystem::path> done_run(const std::filesystem::path& root,
                                                            const WantedRun& wanted,
                                                            const DataCheck& check,
                                                            const Opening& opening);

}  // namespace trainyard

// What is checked before anything is opened: whether the run to resume is complete and whose config
// is given, and with --skip-done whether a run need not be repeated.
#pragma once

#include <optional>
#include <string>

#include "base/filesystem.h"
#include "run/config/run_config.h"
#include "run/data_facts.h"

namespace trainyard {

/// A text saying that the run of `folder` is complete and how to train further; empty if `wanted`,
/// its config with the overrides of this resume, leaves something to train.
[[nodiscard]] std::optional<std::string> completion_text(const fs::path& folder,
                                                         const RunConfig& wanted);

/// Throws Error{command_line} if the run of `folder` has a checkpoint with the state of another
/// optimizer than `wanted`, its config with the overrides of this resume, has.
void require_optimizer_of_run(const RunConfig& wanted, const fs::path& folder);

/// Throws Error{command_line} with the differences unless `given`, the config typed as `name`, is
/// that of the run. Values that the machine decides if a file has none (threads, precision) may
/// differ.
void require_config_of_run(RunConfig given, const std::string& name, const RunConfig& run,
                           const fs::path& folder);

/// What decides whether a run is done, besides its data.
struct WantedRun {
  const RunConfig& config;
  std::string hash;  // config_hash(): of the config and of the weights of --init
  std::int64_t global_batch = 1;
};

/// The newest run of `root`/NAME that completed with this config, global batch and data; empty if
/// there is none. The data are opened only if there is one with everything but them. Then other
/// data are judged by judge_changes(), which may throw.
[[nodiscard]] std::optional<fs::path> done_run(const fs::path& root, const WantedRun& wanted,
                                               const DataCheck& check, const Opening& opening);

}  // namespace trainyard

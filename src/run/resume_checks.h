// What a resume checks before anything is opened: whether the run is complete, and whose config is
// given.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "run/config/run_config.h"

namespace trainyard {

/// A text saying that the run of `folder` is complete and how to train further; empty if `wanted`,
/// its config with the overrides of this resume, leaves something to train.
[[nodiscard]] std::optional<std::string> completion_text(const std::filesystem::path& folder,
                                                         const RunConfig& wanted);

/// Throws Error{command_line} if the run of `folder` has a checkpoint with the state of another
/// optimizer than `wanted`, its config with the overrides of this resume, has.
void require_optimizer_of_run(const RunConfig& wanted, const std::filesystem::path& folder);

/// Throws Error{command_line} with the differences unless `given`, the config typed as `name`, is
/// that of the run. Values that the machine decides if a file has none (threads, precision) may
/// differ.
void require_config_of_run(RunConfig given, const std::string& name, const RunConfig& run,
                           const std::filesystem::path& folder);

}  // namespace trainyard

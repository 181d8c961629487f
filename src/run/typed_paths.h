// The paths of a run's config as they were typed.
//
// config.yaml has absolute paths, so that it can be used from anywhere. What decides whether two
// configs are the same is what was typed, since a project may lie elsewhere on another host, or be
// moved: run.json keeps that.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "formats/json.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The key of run.json that has them.
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

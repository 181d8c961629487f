// What tells a run from others with the same config: its random id, and the weights it began with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "checkpoint/checkpoint_files.h"

namespace trainyard {

struct RunIdentity {
  /// Random; "" of runs made before ids; none where run.json cannot be read.
  std::optional<std::string> id;
  std::string weights;  // InitialWeights::hash of what `--init` gave it, or ""
};

/// The run.json of a run; empty if it cannot be read or is no object.
[[nodiscard]] std::optional<Json> run_record(const std::filesystem::path& run_json);

/// What the run.json of a run says. Nothing if it cannot be read, of which
/// reproduction_differences() warns.
[[nodiscard]] RunIdentity identity_of(const std::filesystem::path& run_json);

/// The id of the run of `folder`, which saved `checkpoint`: that of a checkpoint where run.json
/// says none. Throws Error{checkpoint} that names both runs if another one saved it.
[[nodiscard]] std::string id_of_own(const LoadedCheckpoint& checkpoint, const RunIdentity& run,
                                    const std::filesystem::path& folder);

}  // namespace trainyard

// What distinguishes a run from others with the same config: its random id, and its initial
// weights.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "checkpoint/checkpoint_files.h"

namespace trainyard {

struct RunIdentity {
  /// Random; "" for runs from before ids existed; none if run.json cannot be read.
  std::optional<std::string> id;
  std::string weights;  // InitialWeights::hash of the weights of `--init`, or ""
};

/// The run.json of a run; empty if it cannot be read or is not an object.
[[nodiscard]] std::optional<Json> run_record(const std::filesystem::path& run_json);

/// The identity in the run.json of a run. Empty if it cannot be read, which
/// reproduction_differences() warns about.
[[nodiscard]] RunIdentity identity_of(const std::filesystem::path& run_json);

/// The id of the run of `folder`, which saved `checkpoint`: that of the checkpoint if run.json has
/// none. Throws Error{checkpoint} that names both runs if another one saved it.
[[nodiscard]] std::string id_of_own(const LoadedCheckpoint& checkpoint, const RunIdentity& run,
                                    const std::filesystem::path& folder);

}  // namespace trainyard

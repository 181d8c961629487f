// What distinguishes a run from others with the same config: its random id, and its initial
// weights.
#pragma once

#include <optional>
#include <string>

#include "base/filesystem.h"
#include "checkpoint/checkpoint_files.h"

namespace trainyard {

/// The run.json of a run; empty if it cannot be read or is not an object.
[[nodiscard]] std::optional<Json> run_record(const fs::path& run_json);

/// The random id in the run.json of a run; "" for runs from before ids existed. None if it cannot
/// be read, which reproduction_differences() warns about.
[[nodiscard]] std::optional<std::string> recorded_id(const fs::path& run_json);
/// InitialWeights::hash of the weights of `--init` in the run.json of a run, or "".
[[nodiscard]] std::string recorded_init_hash(const fs::path& run_json);

/// The id of the run of `folder`, which saved `checkpoint`: that of the checkpoint if none is
/// recorded. Throws Error{checkpoint} that names both runs if another one saved it.
[[nodiscard]] std::string id_of_own(const LoadedCheckpoint& checkpoint,
                                    const std::optional<std::string>& recorded,
                                    const fs::path& folder);

}  // namespace trainyard

// What the bits of a run depend on besides config and seed.
#pragma once

#include <string>
#include <vector>

#include "base/filesystem.h"
#include "formats/json.h"
#include "run/session/session_device.h"

namespace trainyard {

/// Device, target, threads, instruction set, libraries and choices made by timing, for run.json:
/// equal values give bit-identical results.
[[nodiscard]] Json reproduction(const SessionDevice& device);

/// The choices by timing of the run of `run_json` (ExecutorFactory::choices()); empty if the file
/// has none.
[[nodiscard]] std::string choices_of(const fs::path& run_json);

/// A sentence for each value of `here` that differs from the one in `run_json`, except threads
/// (which a resume may change on purpose), or one sentence if the file cannot be read.
[[nodiscard]] std::vector<std::string> reproduction_differences(const fs::path& run_json,
                                                                const Json& here);

}  // namespace trainyard

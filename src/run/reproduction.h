// What, beside config and seed, the bits of a run depend on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "formats/json.h"
#include "run/session/session.h"

namespace trainyard {

/// Device, target, threads, instruction set, libraries and what was chosen by timing, for run.json:
/// equal ones give equal bits.
[[nodiscard]] Json reproduction(const SessionDevice& device);

/// What the run of `run_json` chose by timing (ExecutorFactory::choices()); empty if the file does
/// not say.
[[nodiscard]] std::string choices_of(const std::filesystem::path& run_json);

/// A sentence for each value of `here` that differs from the one in `run_json`, except threads
/// (which a resume may change on purpose); one that says so if the file cannot be read.
[[nodiscard]] std::vector<std::string> reproduction_differences(
    const std::filesystem::path& run_json, const Json& here);

}  // namespace trainyard

// Runs as a command line names them: a run's folder, or runs/NAME, which means the newest run
// there.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analysis/recorded_run.h"
#include "base/filesystem.h"
#include "cli/verbs.h"

namespace trainyard::cli {

/// For use with transform(): a folder of numbered runs becomes the path of its newest one, which is
/// told on stderr (once by several ranks, not with -q). Anything else stays as it is. Throws
/// Error{command_line} for a folder whose runs have no numbers, as `runs` itself, and for a NAME of
/// runs without `runs/`.
[[nodiscard]] CLI::Validator newest_run_of_name(const Context& context);

/// Declares an argument that is a run, see newest_run_of_name(); RUN in help.
CLI::Option* add_run(CLI::App& app, const std::string& name, std::string& value,
                     const std::string& help, const Context& context);

/// Runs, and folders of numbered ones, in `folder`, sorted.
[[nodiscard]] std::vector<fs::path> runs_below(const fs::path& folder);

/// Reads the runs that an argument list names, and warns of each thing that could not be read.
/// Throws as find_runs().
[[nodiscard]] std::vector<RecordedRun> recorded_runs(const std::vector<std::string>& names,
                                                     Messages& messages);

}  // namespace trainyard::cli

// A run as a command line names it: its folder, or runs/NAME, which means the newest run in it.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/verbs.h"

namespace trainyard::cli {

/// For use with transform(): a folder of numbered runs becomes the path of its newest one, which is
/// told on stderr (once by several ranks, not with -q). Anything else stays as it is. Throws
/// Error{command_line} for a folder whose runs have no numbers, as `runs` itself, and for a NAME of
/// runs without `runs/`.
[[nodiscard]] CLI::Validator newest_run_of_name(const Context& context);

/// Runs, and folders of numbered ones, in `folder`, sorted.
[[nodiscard]] std::vector<std::filesystem::path> runs_below(const std::filesystem::path& folder);

}  // namespace trainyard::cli

// The launching step, between parsing and what a training verb does: this process either is one of
// the ranks, or starts them and watches over them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_flags.h"
#include "cli/verbs.h"

namespace trainyard::cli {

struct LaunchFlags {
  std::optional<int> replicas;
  std::string hosts;     // --hosts file
  std::string sync_dir;  // --sync-dir
  int max_restarts = 0;
};

/// Declares --replicas, --hosts, --sync-dir and --max-restarts.
void add_launch_flags(CLI::App& app, LaunchFlags& flags);

/// What a verb says of its run before ranks are started.
struct LaunchPlan {
  /// Throws the errors of files and flags, so that they are printed once and not by every rank.
  std::function<void()> check;
  /// The arguments of the next attempt after a failure, given those of the first.
  std::function<std::vector<std::string>(std::vector<std::string>)> resume_arguments;
  std::filesystem::path log_folder;  // see LocalLaunch
};

/// Calls `work` in this process if it is a rank that a launcher started, or the only one; else
/// starts the ranks (local processes, or mpirun for --hosts) and returns the exit code of the job,
/// or ends as its signal would. `work` is given the surroundings with its place. Throws
/// Error{command_line} where flags and launcher contradict each other.
int in_ranks(const RunFlags& run, const LaunchFlags& flags, const Surroundings& surroundings,
             const LaunchPlan& plan, const std::function<int(const Surroundings&)>& work);

}  // namespace trainyard::cli

// The launching step, between parsing and what a training verb does: this process either is one of
// the ranks, or starts them and watches over them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/rank_gpus.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "launch/launcher.h"
#include "train/rank_group.h"

namespace trainyard::cli {

struct LaunchFlags {
  std::optional<int> replicas;
  std::string hosts;     // --hosts file
  std::string sync_dir;  // --sync-dir
  int max_restarts = 0;
};

/// Declares --replicas, --hosts and --sync-dir.
void add_host_flags(CLI::App& app, LaunchFlags& flags);
/// Declares those and --max-restarts.
void add_launch_flags(CLI::App& app, LaunchFlags& flags);
/// Throws Error{command_line} where they contradict each other.
void check_host_flags(const LaunchFlags& flags);
/// The text of --gpus; --device is a processor.
[[nodiscard]] std::string gpus_of(const RunFlags& run);

/// The place of this process, if a launcher started it as a rank. Throws as find_rank_identity().
[[nodiscard]] std::optional<RankIdentity> own_place();
/// Whether that launcher was train, on this machine or by --hosts.
[[nodiscard]] bool train_started(const RankIdentity& place);
/// Which one it was otherwise: "mpirun has already started this one".
[[nodiscard]] std::string other_launcher(const RankIdentity& place);
/// Ranks on each host of --hosts. Throws Error{command_line} where the flags do not say.
[[nodiscard]] int ranks_per_host(const RunFlags& run, const LaunchFlags& flags);

/// One start of ranks.
struct RankStart {
  int ranks = 1;
  std::vector<std::string> arguments;  // of the program
  /// Gets what rank 0 prints on stdout; null: this process's stdout does.
  const RankOutput* results = nullptr;
};
/// Ranks that can be started as often as is wanted.
struct RankPool {
  int most = 1;  // ranks of a start
  /// Starts ranks and waits for their end. Throws as launch().
  std::function<LaunchResult(const RankStart&)> start;
};
/// Processes of this machine; the GPUs of `places` are the ranks' in this order. `log_folder`: see
/// LocalLaunch.
[[nodiscard]] RankPool local_pool(const RankCount& places,
                                  const std::filesystem::path& log_folder = {});
/// Those of --hosts, through mpirun; --sync-dir is done here, once. `counts` will be started: they
/// are checked before. Throws Error of the host file, the flags and the counts, and Error{device}
/// where copying fails.
[[nodiscard]] RankPool host_pool(const RunFlags& run, const LaunchFlags& flags,
                                 std::span<const int> counts);
/// The device of the rank of this group. A rank that has none tells the others, which would wait
/// for it: throws Error{device} of the first of all ranks, and as device_choice_of_rank().
[[nodiscard]] DeviceChoice device_in_group(const RunFlags& run, const LaunchFlags& flags,
                                           RankGroup& ranks);
/// Ends the launcher as its ranks did: their exit code, or by their signal, with the message.
int end_as(const LaunchResult& result, Messages& messages);

/// What a rank joins the others with. Where it is stuck when another one fails, it ends here.
[[nodiscard]] RankGroupOptions rank_group_options(const RankIdentity& place,
                                                  const RankLimits& limits, Messages& messages);

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
/// or ends as its signal would. `work` is given the context with its place. Throws
/// Error{command_line} where flags and launcher contradict each other.
int in_ranks(const RunFlags& run, const LaunchFlags& flags, const Context& context,
             const LaunchPlan& plan, const std::function<int(const Context&)>& work);

}  // namespace trainyard::cli

// Launching, between parsing and the work of a training verb: this process either is one of the
// ranks, or starts and watches them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "cli/rank_gpus.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "ranks/rank_group.h"
#include "ranks/spawn/spawn.h"

namespace trainyard::cli {

struct SpawnFlags {
  std::optional<int> replicas;
  std::string hosts;     // --hosts file
  std::string sync_dir;  // --sync-dir
  int max_restarts = 0;
};

/// Declares --replicas, --hosts and --sync-dir.
void add_host_flags(CLI::App& app, SpawnFlags& flags);
/// Declares the same and --max-restarts.
void add_spawn_flags(CLI::App& app, SpawnFlags& flags);
/// Throws Error{command_line} if they contradict each other.
void check_host_flags(const SpawnFlags& flags);
/// The text of --gpus; "0" if --device is given.
[[nodiscard]] std::string gpus_of(const RunFlags& run);

/// The identity of this process if a launcher started it as a rank. Throws as find_rank_identity().
[[nodiscard]] std::optional<RankIdentity> own_identity();
/// Whether that launcher was train, on this machine or through --hosts.
[[nodiscard]] bool train_started(const RankIdentity& identity);
/// The other launcher, for messages: "mpirun has already started this one".
[[nodiscard]] std::string other_launcher(const RankIdentity& identity);
/// Ranks on each host of --hosts. Throws Error{command_line} if the flags do not give the number.
[[nodiscard]] int ranks_per_host(const RunFlags& run, const SpawnFlags& flags);

/// One start of ranks.
struct RankStart {
  int ranks = 1;
  std::vector<std::string> arguments;  // the program's
  /// Receives the stdout of rank 0; null: it goes to this process's stdout.
  const RankOutput* results = nullptr;
  /// Receives the stderr of rank 0, of ranks on this machine; null: it goes to this process's.
  const RankOutput* errors = nullptr;
};
/// Ranks that can be started any number of times.
struct RankPool {
  int most = 1;  // ranks per start
  /// Starts ranks and waits until they end. Throws as launch().
  std::function<SpawnResult(const RankStart&)> start;
};
/// Processes on this machine; the ranks get the GPUs of `ranks` in this order. `log_folder`: see
/// LocalSpawn.
[[nodiscard]] RankPool local_pool(const RankCount& ranks, const fs::path& log_folder = {});
/// Processes on the hosts of --hosts, through mpirun; --sync-dir is done here, once. `counts`, the
/// numbers of ranks to start later, are checked here. Throws the errors of the host file, the flags
/// and the counts, and Error{device} if copying fails.
[[nodiscard]] RankPool host_pool(const RunFlags& run, const SpawnFlags& flags,
                                 std::span<const int> counts);
/// The device of this rank. A rank without one tells the others, which would otherwise wait for it:
/// throws the Error{device} of the lowest rank that failed, and as device_choice_of_rank().
[[nodiscard]] DeviceChoice device_in_group(const RunFlags& run, const SpawnFlags& flags,
                                           RankGroup& ranks);
/// Ends the launcher as its ranks ended: with their exit code or signal, and the message.
int end_as(const SpawnResult& result, Messages& messages);

/// Options with which a rank joins the others. on_failure ends a rank that is stuck when another
/// one fails.
[[nodiscard]] RankGroupOptions rank_group_options(const RankIdentity& identity,
                                                  const RankLimits& limits, Messages& messages);

/// What a verb provides before ranks are started.
struct SpawnSteps {
  /// Throws the errors of files and flags, so that they are printed once, not by every rank.
  std::function<void()> check;
  /// The arguments of the next attempt after a failure, given those of the first.
  std::function<std::vector<std::string>(std::vector<std::string>)> resume_arguments =
      [](std::vector<std::string> arguments) { return arguments; };
  fs::path log_folder;  // see LocalSpawn
};

/// Calls `work` in this process if it is a rank that a launcher started, or the only one; else
/// starts the ranks (local processes, or mpirun for --hosts) and returns the exit code of the job,
/// or ends by its signal. `work` gets the context with the rank's identity. Throws
/// Error{command_line} if flags and launcher contradict each other.
int in_ranks(const RunFlags& run, const SpawnFlags& flags, const Context& context,
             const SpawnSteps& plan, const std::function<int(const Context&)>& work);

// How ranks tell the launcher that restarts them which GPU failed.

/// Tells ranks the path of the launcher's file.
inline constexpr const char* kFailedGpusVariable = "TRAINYARD_FAILED_GPUS";

/// The launcher's file, to which each rank appends the GPU that failed, one per line. Removed with
/// the object.
class FailedGpus {
 public:
  /// In a folder that the ranks see. Throws Error{disk} if the file cannot be created.
  explicit FailedGpus(const fs::path& folder);
  ~FailedGpus();
  FailedGpus(const FailedGpus&) = delete;
  FailedGpus& operator=(const FailedGpus&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  /// The first that was added since the last call: "cuda:0 (NVIDIA H200, 0000:17:00.0) of node1";
  /// "" if none was.
  [[nodiscard]] std::string take();

 private:
  fs::path path_;
};

/// Appends the GPU that an error's text names, if any, to the launcher's file, if the launcher has
/// set one. A rank that does not see the file, on another machine, adds nothing.
void add_failed_gpu(std::string_view text);

}  // namespace trainyard::cli

// Starts and watches the ranks of this machine.
//
// The folder holds processes: which rank this one is by the launcher environment, and
// starting ranks here, on other hosts and under Slurm. It knows nothing of what a rank does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/filesystem.h"
#include "ranks/spawn/rank_output.h"
#include "ranks/spawn/rank_process.h"

namespace trainyard {

/// How long ranks have to end once one of them has failed, or the first has ended.
struct SpawnLimits {
  double grace_seconds = 10;  // time to end, then SIGTERM
  double kill_seconds = 5;    // time after SIGTERM, then SIGKILL
};

/// A process to start: a rank, or the mpirun that starts the ranks of several hosts.
struct SpawnedProcess {
  std::string name;  // "rank 2", for messages
  SpawnCommand command;
  const RankOutput* output = nullptr;  // null: it shares the launcher's streams
  /// Receives only its stdout, for the launcher to read; null: stdout goes to `output`.
  const RankOutput* results = nullptr;
  /// Sent instead of SIGINT, SIGTERM and SIGHUP, to a process that would kill its children on
  /// those; 0: they are passed on unchanged.
  int stop_signal = 0;
};

/// How the processes ended.
struct SpawnResult {
  int exit_code = 0;
  int signal = 0;       // if not 0, the launcher ends as this signal would have ended it
  int passed = 0;       // the last of SIGINT, SIGTERM, SIGHUP and SIGUSR1 that was passed on
  std::string message;  // the failure that counts; "" if the first process has reported it
  std::string warning;  // processes that had to be killed although none had failed; or ""
};

/// Starts all processes and returns when all have ended.
///
/// SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are passed on, once per signal received; a second
/// SIGINT starts the limit before SIGKILL, and becomes SIGTERM for a process with a stop_signal.
/// The result is decided by, in this order:
///
/// 1. the first process that was killed by another signal (exit code 8), or ended with an exit code
///    other than 0, 8 and 75: a failure;
/// 2. the first that ended by SIGINT, SIGTERM, SIGHUP or SIGUSR1: it was stopped, and the result is
///    that signal, whoever sent it;
/// 3. the first with exit code 8: a failure, but it may only have noticed that another is gone;
/// 4. exit code 75: stopped by a limit of its own;
/// 5. 0.
///
/// After a failure the other processes have until their limits and are then killed; how they end
/// does not count. The same applies after the first process, which should end last, has ended: one
/// that still runs is a warning. Throws Error{device} if a process cannot be started; those that
/// run are then killed.
[[nodiscard]] SpawnResult spawn(const std::vector<SpawnedProcess>& processes,
                                const SpawnLimits& limits, const Clock& clock);

/// The ranks of one machine.
struct LocalSpawn {
  SpawnCommand command;  // every rank's; its identity variables are added to the environment
  int ranks = 1;
  /// Folder for the output of ranks 1, 2, ...: rank1.log, ...; empty: unnamed files.
  fs::path log_folder;
  const RankOutput* results = nullptr;  // SpawnedProcess::results of rank 0
  const RankOutput* errors = nullptr;   // SpawnedProcess::output of rank 0
  SpawnLimits limits;
};

/// Starts ranks 0 to ranks - 1 on this machine. They read their identity from the environment
/// ("local"), meet at 127.0.0.1 at a port that was free, and share a random token. Rank 0 has the
/// launcher's streams, if not given others. Throws as spawn(), and Error{disk} for the output
/// files.
[[nodiscard]] SpawnResult spawn_local(const LocalSpawn& local, const Clock& clock);

/// Restarts after a failure.
struct Restarts {
  int most = 0;
  /// Tells the user what happened and that a new attempt begins.
  std::function<void(const std::string& text)> tell;
  /// The GPU whose failure ended the last attempt, as text; "" if no GPU failed.
  std::function<std::string()> failed_gpu = [] { return std::string(); };
};
/// Calls `attempt` with 0, 1, ... until it ends with anything but exit code 8 (a dead or stuck
/// rank, a device, a connection), with at most `most` restarts, and none after a GPU has failed
/// twice: such a machine must be repaired by hand. `attempt` decides what a new attempt does
/// differently.
[[nodiscard]] SpawnResult with_restarts(const std::function<SpawnResult(int)>& attempt,
                                        const Restarts& restarts);

/// 32 hexadecimal digits from the system's random numbers. Throws Error{device} if it has none.
[[nodiscard]] std::string random_token();
/// A TCP port of 127.0.0.1 that was free at the time of the call. Throws Error{device}.
[[nodiscard]] int free_port();

}  // namespace trainyard

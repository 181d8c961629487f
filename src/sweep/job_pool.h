// Processes, a few at a time, until all have run.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/clock.h"
#include "base/filesystem.h"
#include "ranks/spawn/rank_process.h"

namespace trainyard {

/// A process to start: its command, and the file that gets its stdout and stderr; an earlier one of
/// that name is replaced.
struct PoolJob {
  SpawnCommand command;
  fs::path log;
};

/// How a job ended.
struct PoolEnd {
  ProcessEnd end;
  std::string problem;  // why it could not be started (`end` then has the exit code); else ""
};

/// What the pool asks and tells its caller, on the caller's thread.
struct PoolCalls {
  /// The job number `index`; it runs in `slot`, which no other job has at the same time.
  std::function<PoolJob(std::size_t index, std::size_t slot)> job;
  /// False: no other job is started. Null: always true.
  std::function<bool()> may_start = nullptr;
  std::function<void(std::size_t index)> started;
  std::function<void(std::size_t index, const PoolEnd& end)> ended;
};

/// Runs jobs 0 to `count` - 1 in this order, `slots` at a time. A job that fails does not keep
/// others from starting. SIGINT, SIGTERM, SIGHUP and SIGUSR1 are passed on to those that run, and
/// no other is started then; a second SIGINT also gives them 5 seconds before they are killed.
/// SIGUSR2 is passed on alone. If this process is killed, so are the jobs. Returns when none runs:
/// the last signal that stopped it, or 0.
[[nodiscard]] int run_jobs(std::size_t count, std::size_t slots, const PoolCalls& calls,
                           const Clock& clock);

}  // namespace trainyard

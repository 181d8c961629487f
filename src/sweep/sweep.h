// A sweep from its first process to its last: runs that are over are left alone, the others start
// or continue, and what became of each is told at once.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/recorded_run.h"
#include "analysis/run_table.h"
#include "base/clock.h"
#include "base/filesystem.h"
#include "base/handle.h"
#include "ranks/spawn/rank_process.h"
#include "run/config/run_config.h"
#include "run/data_facts.h"
#include "sweep/plan.h"

namespace trainyard {

/// What is in a run's folder.
enum class SweepProgress {
  none,        // no run: it starts
  unfinished,  // it continues from its newest checkpoint
  completed,
  diverged,  // it would diverge again: a result too
};

struct SweepRun {
  SweepPoint point;
  std::vector<std::string> overrides;  // overrides of the axes, as for --set
  fs::path folder;                     // SWEEP/runs/NAME
  fs::path log;                        // SWEEP/logs/NAME.log: what the process printed
  SweepProgress before = SweepProgress::none;

  [[nodiscard]] bool is_over() const {
    return before == SweepProgress::completed || before == SweepProgress::diverged;
  }
};

/// The run of `point` in the sweep folder.
[[nodiscard]] SweepRun sweep_run(const fs::path& sweep, std::span<const SweepAxis> axes,
                                 SweepPoint point);

/// What is in the folder of `run`, whose config is `given`, read from `file`. Throws
/// Error{command_line} if it holds a run of another config (threads and precision that the machine
/// decides may differ), a run that another process is training, or anything else.
[[nodiscard]] SweepProgress progress_of(const SweepRun& run, const RunConfig& given,
                                        const std::string& file);

/// Throws Error{command_line} if two of the configs, in the order of `runs`, are the same.
void require_different(const std::vector<SweepRun>& runs, const std::vector<RunConfig>& configs);

// Whether the runs of a sweep still have the data that they began with.

/// Runs with the same `data` and seed are compared with data that are opened once.
class SweepData {
 public:
  SweepData(Opening opening, const DataCheck& check);
  /// Compares a run that has begun, or ended, as judge_changes().
  void compare(const SweepRun& run, const RunConfig& config);

 private:
  Opening opening_;
  DataCheck check_;
  std::map<std::string, DataFacts> known_;  // facts by seed and `data`
};

/// How a run of a sweep ended, now or before.
enum class SweepOutcome {
  completed,
  diverged,
  failed,
  stopped,  // stopped by a signal or a limit of its own, saved
  waiting,  // it was not started: the sweep was stopped
};
/// "completed", as in the table.
[[nodiscard]] std::string_view name_of(SweepOutcome outcome);

struct SweepEnd {
  SweepOutcome outcome = SweepOutcome::waiting;
  int exit_code = 0;  // 128 + the signal that ended it
};

/// The only process that runs the sweep of a folder, which is created. Holds a lock on the folder
/// for its lifetime. Throws Error{command_line} if another process has it, and Error{disk}.
class SweepLock {
 public:
  explicit SweepLock(const fs::path& folder);

 private:
  Descriptor file_;
};

struct SweepRequest {
  std::vector<SweepRun> runs;
  std::size_t jobs = 1;  // runs at a time
  /// The command of a run in a slot, 0 to jobs - 1.
  std::function<SpawnCommand(const SweepRun& run, std::size_t slot)> command;
  std::function<void(const std::string& line)> tell;
  /// As in PoolCalls.
  std::function<bool()> may_start = nullptr;
};

struct SweepResult {
  std::vector<SweepEnd> ends;  // indexed by run
  int signal = 0;              // signal that stopped the sweep, or 0
};

/// Runs what is not over. One line is told for each run that ends; see run_jobs() for signals.
[[nodiscard]] SweepResult run_sweep(const SweepRequest& request, const Clock& clock);

/// The exit code of the first run that failed, else 75 if one stopped by a limit of its own, was
/// stopped alone or waits, else that of divergence if one diverged, else 0.
[[nodiscard]] int exit_code_of(std::span<const SweepEnd> ends);
/// "12 runs: 10 completed, 1 diverged, 1 failed".
[[nodiscard]] std::string counts_text(std::span<const SweepEnd> ends);

// What the runs of a sweep have come to, as one table.

/// A row for each run, in their order, with the keys of the axes. A run that never had a folder, or
/// whose process was not started, is in it too.
[[nodiscard]] RunTable results_of(std::span<const SweepAxis> axes, std::span<const SweepRun> runs,
                                  std::span<const SweepEnd> ends, const Clock& clock);

/// The runs that have finished an epoch, for their curves.
[[nodiscard]] std::vector<RecordedRun> measured_runs(std::span<const SweepRun> runs,
                                                     const Clock& clock);

}  // namespace trainyard

// One run of a sweep: where it is, and what an earlier start of the sweep has left of it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

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
  std::vector<std::string> overrides;  // of the axes, as for --set
  std::filesystem::path folder;        // SWEEP/runs/NAME
  std::filesystem::path log;           // SWEEP/logs/NAME.log: what the process printed
  SweepProgress before = SweepProgress::none;

  [[nodiscard]] bool is_over() const {
    return before == SweepProgress::completed || before == SweepProgress::diverged;
  }
};

/// The run of `point` in the sweep folder.
[[nodiscard]] SweepRun sweep_run(const std::filesystem::path& sweep,
                                 std::span<const SweepAxis> axes, SweepPoint point);

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
  std::map<std::string, DataFacts> known_;  // by seed and `data`
};

}  // namespace trainyard

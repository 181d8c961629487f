// A training run from its config to its folder: what `train` and `train resume` do.
//
// The folder run puts the others together: config/ is the run file, session/ builds device, data
// and model, and this folder is the run itself with its folder, resume and status. A run starts as
// new_run or as resumed_run, and from then on is the same. Speed is measured in bench, text for
// people is made in report.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "ranks/rank_group.h"
#include "ranks/stop_request.h"
#include "report/epoch_line.h"
#include "report/hooks.h"
#include "report/metrics.h"
#include "run/training_request.h"

namespace trainyard {

/// The environment of a run. All outlive it.
struct RunContext {
  const Disk& disk;
  const Clock& clock;
  const StopSignals& signals;
  RankGroup& ranks;
  /// Makes the console's sink once the contents of the banner are known.
  std::function<std::unique_ptr<MetricsSink>(const Banner&, std::int64_t epochs)> console;
  std::function<void(const std::string&)> warn;
  /// Redirects the output of this process to that file from now on, if its folder is visible.
  std::function<void(const std::filesystem::path&)> log_to;
  /// All variables of the environment, as NAME=VALUE, for the run's hooks.
  std::vector<std::string> environment = {};
};

struct RunResult {
  std::filesystem::path folder;
  RunEnd end;  // the signal that interrupted it may have arrived on any rank
  std::shared_ptr<Hooks> hooks = nullptr;  // of rank 0, which still has to wait for them
};

/// Trains to the end or to a reason to stop, as one of the ranks; rank 0 alone writes the folder.
/// Throws Error of any kind; the folder's status.json then says so. All ranks throw the same error:
/// the first one, on whichever rank it occurred.
[[nodiscard]] RunResult run_training(TrainingRequest request, const RunContext& context);

}  // namespace trainyard

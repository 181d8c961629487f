// A training run from its config to its folder: what `train` and `train resume` do.
//
// The folder run puts the others together: config/ is the run file, session/ builds device, data
// and model, and this folder is the run itself with its folder, resume and status. Speed is
// measured in bench, text for people is made in report.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "report/epoch_line.h"
#include "report/metrics.h"
#include "run/config/run_config.h"
#include "run/initial_weights.h"
#include "run/run_folder.h"
#include "run/session/session.h"
#include "train/rank_group.h"
#include "train/stop_request.h"
#include "train/trainer.h"

namespace trainyard {

struct TrainingRequest {
  RunConfig config;
  std::string original_yaml;                // the run file as the user wrote it
  std::string command;                      // as typed, shell-quoted
  std::vector<std::string> overrides = {};  // of the config by --set and flags: "epochs=2"
  std::string version;                      // of the program
  std::string id;                           // random id of a new run
  DeviceChoice device;
  std::filesystem::path out;           // --out, or empty: runs/NAME/NNNN
  std::filesystem::path resume;        // a run folder to resume, or empty
  std::optional<InitialWeights> init;  // weights of a new run
  std::filesystem::path output;        // --plot, or empty
  std::filesystem::path gnuplot;       // program, or empty: no plots
  double max_seconds = 0;              // --max-time; 0: none
  bool eager = false;
};

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
};

struct RunResult {
  std::filesystem::path folder;
  RunEnd end;  // the signal that interrupted it may have arrived on any rank
};

/// Trains to the end or to a reason to stop, as one of the ranks; rank 0 alone writes the folder.
/// Throws Error of any kind; the folder's status.json then says so. All ranks throw the same error:
/// the first one, on whichever rank it occurred.
[[nodiscard]] RunResult run_training(TrainingRequest request, const RunContext& context);

}  // namespace trainyard

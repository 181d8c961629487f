// A training run from its config to its folder: what `train` and `train resume` do.
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
  std::string id;                           // random, of a new run
  DeviceChoice device;
  std::filesystem::path out;           // --out, or empty: runs/NAME/NNNN
  std::filesystem::path resume;        // a run folder to go on with, or empty
  std::optional<InitialWeights> init;  // weights of a new run
  std::filesystem::path output;        // --output picture, or empty
  std::filesystem::path gnuplot;       // program, or empty: no pictures
  double max_seconds = 0;              // --max-time; 0: none
  bool eager = false;
};

/// What a run talks to. All outlive it.
struct RunContext {
  const Disk& disk;
  const Clock& clock;
  const StopSignals& signals;
  RankGroup& ranks;
  /// Makes the console's sink when the banner's facts are known.
  std::function<std::unique_ptr<MetricsSink>(const Banner&, std::int64_t epochs)> console;
  std::function<void(const std::string&)> warn;
  /// What this process prints goes there from now on, if its folder can be seen.
  std::function<void(const std::filesystem::path&)> log_to;
};

struct RunResult {
  std::filesystem::path folder;
  RunEnd end;  // the signal that interrupted it may have come on any rank
};

/// Trains to the end or to a reason to stop, as one of the ranks; rank 0 alone keeps the folder.
/// Throws Error of any kind; the folder's status.json then says so. The errors of several ranks are
/// one: that of the first, wherever it happened.
[[nodiscard]] RunResult run_training(TrainingRequest request, const RunContext& context);

}  // namespace trainyard

// A training run from its config to its folder: what `train` and `train resume` do.
//
// The folder run puts the others together: config/ is the run file, session/ builds device, data
// and model, and this folder is the run itself with its folder, resume and status. A run starts as
// NewRun or as ResumedRun, and from then on is the same. Speed is measured in bench, text for
// people is made in report.
//
// What belongs to an epoch (rows, tables, texts) is written before its checkpoint, what belongs to
// the end (weights, summary, log) before the last status: whatever says that it is done lacks
// nothing. A run killed at any moment and resumed ends with the bytes of an uninterrupted one
// (scripts/kill_resume.sh, scripts/attack.sh).
//
// The types around a run:
//
//   asked        TrainingRequest   config, flags, and what of the process a run needs
//   in progress  TrainingRun       one rank from start to end; the host of its Trainer
//                RunStart          how it begins: NewRun or ResumedRun; texts of its config, its id
//                Session           its device, data, model and training step
//                RunKeeper         rank 0: what it writes into its RunFolder
//                RunFolder         the lock, the names, whole files
//   reported     RunPhase          what it does now; RunState: whether it has ended, and how
//                RunProgress       epoch, step, loss and speed now
//                RunStatus         status.json: these three, best value, checkpoint
//                RunEnd            how run_training() ended: the last line, the exit code
//   afterwards   RunHealth         a folder and its process as seen from outside, and the verdict
//                RecordedRun       all that a folder tells, for comparisons and plots
//                StoredModel       its weights with what is needed to use them
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/filesystem.h"
#include "ranks/rank_group.h"
#include "ranks/stop_vote.h"
#include "report/epoch_line.h"
#include "report/metrics.h"
#include "run/config/run_config.h"
#include "run/data_facts.h"
#include "run/initial_weights.h"
#include "run/session/session_device.h"

namespace trainyard {

/// What to train, how, and what of the process around it a run needs.
struct TrainingRequest {
  RunConfig config;
  std::string original_yaml;                // file of a new run as the user wrote it
  std::string command;                      // as typed, shell-quoted
  std::vector<std::string> overrides = {};  // changes by --set and flags: "epochs=2"
  std::string version;                      // version of the program
  std::string id;                           // random id of a new run
  DeviceChoice device;
  fs::path out;                        // --out of a new run, or empty: runs/NAME/NNNN
  fs::path resume;                     // a run folder to resume, or empty
  std::optional<InitialWeights> init;  // weights of a new run
  fs::path output;                     // --plot, or empty
  fs::path gnuplot;                    // program, or empty: no plots
  DataCheck check;                     // check of a resume: its data against the run's
  double max_seconds = 0;              // --max-time; 0: none
  bool eager = false;
  // For the process that trains:
  /// Makes the console's sink once the contents of the banner are known.
  std::function<std::unique_ptr<MetricsSink>(const Banner&, std::int64_t epochs)> console =
      [](const Banner&, std::int64_t) { return std::make_unique<NullSink>(); };
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  /// Redirects the output of this process to that file from now on, if its folder is visible.
  std::function<void(const fs::path&)> log_to = [](const fs::path&) {};
  /// All variables of the environment, as NAME=VALUE, for the run's hooks.
  std::vector<std::string> environment = {};
};

/// Trains to the end or to a reason to stop, as one of the ranks; rank 0 alone writes the folder.
/// Throws Error of any kind; the folder's status.json then says so. All ranks throw the same error:
/// the first one, on whichever rank it occurred. The signal that interrupted the run may have
/// arrived on any rank. All references outlive the call.
[[nodiscard]] RunEnd run_training(TrainingRequest request, const Disk& disk, const Clock& clock,
                                  const StopSignals& signals, RankGroup& ranks);

}  // namespace trainyard

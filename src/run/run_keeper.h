// What a run writes into its folder, by rank 0 alone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "checkpoint/checkpoint_files.h"
#include "report/csv_sink.h"
#include "report/epoch_line.h"
#include "report/hooks.h"
#include "report/metrics.h"
#include "report/plotter.h"
#include "report/sinks.h"
#include "report/status.h"
#include "run/run_folder.h"
#include "train/training_state.h"

namespace trainyard {

// The record of a complete run as it was, so that an attempt to extend the run which fails before
// its first step can be undone.

class FormerFiles {
 public:
  /// Reads the files of the folder itself, but for its tables of steps and train.log, which is to
  /// tell of the attempt.
  explicit FormerFiles(const RunFolder& folder);
  /// Puts them back, and removes the others that `folder` has now. Throws Error{disk}.
  void restore(const RunFolder& folder) const;

 private:
  std::map<std::string, std::string> texts_;  // texts by name
};

/// What the keeper makes its sinks from.
struct SinkOptions {
  MetricsColumns columns;
  ResumePoint from;
  bool steps = false;                          // write steps.csv
  std::optional<TensorboardHead> tensorboard;  // write tensorboard/
  Hooks* hooks = nullptr;                      // null: none
  PlotContent plots;
  fs::path gnuplot;               // program, or empty: no plots
  fs::path output;                // an additional plot, or empty
  std::function<bool()> stopped;  // true: do not wait for the plots
  Banner banner;
  std::int64_t epochs = 1;
};

/// The folder's record, status, sinks, checkpoints and summary.
class RunKeeper {
 public:
  /// Disk and clock must outlive it; `warn` also prints warnings on the console.
  RunKeeper(const Disk& disk, const Clock& clock, RunFolder folder, const ProgressLimits& limits,
            std::function<void(const std::string&)> warn);

  [[nodiscard]] const RunFolder& folder() const { return folder_; }
  [[nodiscard]] RunStatus& status() { return status_; }
  [[nodiscard]] SinkList& sinks() { return sinks_; }

  void write_status(RunState state);
  /// Takes over what status.json says about the run so far. Before the first write_status(). A run
  /// that is complete stays so until its first step is done: fail() restores its files.
  void recall();
  /// True between recall() and the first step of a run that was complete.
  [[nodiscard]] bool is_complete() const { return former_.has_value(); }
  /// Notes the start of a phase, or of a step or batch of it.
  void note(RunPhase phase) { progress_.begin(phase); }
  /// Training begins at `state`; `judged` is the metric that selects the best model,
  /// "val_accuracy". `checkpoint` is what it was resumed from, or empty.
  void begin(const std::string& judged, const TrainingState& state, const fs::path& checkpoint);
  /// Makes the sinks of the folder, the console's last.
  void open_sinks(const SinkOptions& run, std::unique_ptr<MetricsSink> console);
  void warn(const std::string& text);
  /// After the rows and texts of an epoch.
  void end_epoch(const TrainingState& state);
  void save(const CheckpointContent& content, const TrainingState& state, bool best,
            std::int64_t keep);
  /// Saves weights/best.safetensors, the best epoch so far of a run without checkpoints.
  void save_best(const CheckpointContent& content, const TrainingState& state);
  /// Removes what a start has created of the folder; see RunFolder::discard().
  void give_up();
  /// Records in the folder how the run failed; a failing disk must not hide the error.
  void fail(const Error& error);
  /// Writes the summary and `line`, the end of train.log, and then the last status: a run that says
  /// how it ended lacks nothing.
  void finish(RunState state, int exit_code, const TrainingState& end, const std::string& line);
  /// weights/last.safetensors and weights/best.safetensors of a run that is done.
  void write_weights(const CheckpointContent& content);

 private:
  void write_best_weights();
  void write_summary(double seconds);
  void take_best(const TrainingState& state);
  [[nodiscard]] std::optional<BestValue> best_of(const TrainingState& state) const;
  /// Starts the command of an event, if it has one. `weights` are those of the best epoch, or "".
  void tell(Hook hook, const std::optional<BestValue>& best, const std::string& weights = "");
  /// True, and the files are restored, if the run was complete and no step has been done since.
  [[nodiscard]] bool undo();
  void end_hooks(const std::string& weights);
  void note_checkpoint(const fs::path& checkpoint);

  const Disk& disk_;
  const Clock& clock_;
  std::function<void(const std::string&)> warn_;
  RunFolder folder_;
  ProgressNote progress_;
  StatusFile status_file_;
  RunStatus status_;
  std::optional<FormerFiles> former_;
  std::int64_t first_step_ = 0;  // finished steps when this start begins
  std::string judged_;
  std::vector<std::string> warnings_;
  // Declared after what warnings need: plots that finish late still warn.
  SinkList sinks_;
  LogSink* log_ = nullptr;     // one of the sinks
  PlotSink* plots_ = nullptr;  // one of the sinks, or none
  Hooks* hooks_ = nullptr;
  LastEpoch* last_epoch_ = nullptr;  // one of the sinks, or none
};

}  // namespace trainyard

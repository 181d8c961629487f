// What a run writes besides the CSV files and the console: plots, status.json, train.log, the
// curves for TensorBoard and, at its end, summary.txt.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/filesystem.h"
#include "formats/tensorboard.h"
#include "report/csv_sink.h"
#include "report/epoch_line.h"
#include "report/metrics.h"
#include "report/plotter.h"
#include "report/status.h"

namespace trainyard {

/// The lines of a run, also appended after a resume; each is one write(2).
class LogFile {
 public:
  /// `disk` and `clock` must outlive it.
  LogFile(const Disk& disk, const Clock& clock, const fs::path& path);
  /// Appends `text`; each line is prefixed with the time, and escape sequences are left out.
  void write(std::string_view text);
  void sync() { file_.sync(); }

 private:
  const Clock& clock_;
  AppendFile file_;
};

/// `text` without escape sequences ("ESC [ … letter") and control characters; line feeds stay.
[[nodiscard]] std::string without_escapes(std::string_view text);

/// Redraws the plots after each row.
class PlotSink final : public MetricsSink {
 public:
  /// See Plotter.
  PlotSink(const Disk& disk, PlotterOptions options, std::function<void(const std::string&)> warn)
      : plotter_(disk, std::move(options), std::move(warn)) {}
  void on_epoch(const EpochRow&) override { plotter_.refresh(); }
  void on_step(const StepRow&) override {}
  /// See Plotter.
  void finish() { plotter_.finish(); }

 private:
  Plotter plotter_;
};

/// Records position, loss and throughput for status.json.
class ProgressSink final : public MetricsSink {
 public:
  /// `note` must outlive the sink.
  explicit ProgressSink(ProgressNote& note) : note_(note) {}
  void on_epoch(const EpochRow& row) override { note_.on_epoch(row); }
  void on_step(const StepRow& row) override { note_.on_step(row); }

 private:
  ProgressNote& note_;
};

/// Writes the console's lines to train.log.
class LogSink final : public MetricsSink {
 public:
  /// `disk` and `clock` must outlive it.
  LogSink(const Disk& disk, const Clock& clock, const fs::path& path, const Banner& banner,
          std::int64_t epochs);
  void on_epoch(const EpochRow& row) override;
  void on_step(const StepRow&) override {}
  void sync() override { file_.sync(); }
  void write(const std::string& text) { file_.write(text); }

 private:
  LogFile file_;
  std::int64_t epochs_;
  std::int64_t samples_a_step_;
  std::string judged_, unit_;
  bool explained_ = false;  // the meaning of the star
};

/// What summary.txt, which says how a run ended, has besides the run's last status.
struct SummaryDetails {
  std::string run;                   // the run folder
  std::vector<std::string> changes;  // changes of its config, by --set and flags: "epochs=2"
  double seconds = 0;
  std::vector<NamedValue> best_values;  // values of all validation columns in the best epoch
  std::vector<NamedValue> last;         // losses and metrics of the last finished epoch
  EpochValues clean;  // values of the last clean pass over training samples, if any
  std::vector<std::string> warnings;
};

/// One line per fact, "name: value"; unknown facts are left out.
[[nodiscard]] std::string summary_text(const RunStatus& status, const SummaryDetails& details);

/// The events of one curve folder, counted by epoch or by step. Each start of a run has a file of
/// its own there, since TensorBoard does not read again what it has read.
class EventFile {
 public:
  /// Opens a new file in `folder` for a run that continues after `last` (0: from the start).
  /// Earlier files lose the events after `last`, and what follows a damaged record. Disk and clock
  /// must outlive it. Throws Error{disk}.
  EventFile(const Disk& disk, const Clock& clock, const fs::path& folder, std::int64_t last);

  /// One write(2); nothing if `summary` is empty.
  void append(std::int64_t step, const EventSummary& summary);
  void sync() { file_->sync(); }
  /// The step of texts and images about what follows.
  [[nodiscard]] std::int64_t first_step() const { return first_step_; }
  /// A warning about a damaged file, or "".
  [[nodiscard]] const std::string& warning() const { return warning_; }

 private:
  [[nodiscard]] EventPlace at(std::int64_t step) const { return {clock_.utc_seconds(), step}; }
  void cut(const fs::path& path);

  const Disk& disk_;
  const Clock& clock_;
  std::int64_t first_step_;
  std::string warning_;
  std::optional<AppendFile> file_;
};

/// What is shown beside the curves.
struct TensorboardHead {
  std::string config;  // the run file with every default
  std::optional<EventImage> train_samples, val_samples;
};

struct TensorboardOptions {
  MetricsColumns columns;
  ResumePoint from;
  bool with_steps = false;
  TensorboardHead head;
};

/// Writes the columns of metrics.csv into the folders `train`, `validation` and, of clean passes,
/// `clean`, without val_ and clean_, so that TensorBoard draws one column's curves together, and
/// those of steps.csv into `steps`.
class TensorboardSink final : public MetricsSink {
 public:
  /// `disk` and `clock` must outlive it. Throws Error{disk}.
  TensorboardSink(const Disk& disk, const Clock& clock, const fs::path& folder,
                  const TensorboardOptions& options);

  void on_epoch(const EpochRow& row) override;
  void on_step(const StepRow& row) override;
  void sync() override;
  /// About files that were damaged.
  [[nodiscard]] std::vector<std::string> warnings();

 private:
  [[nodiscard]] std::vector<EventFile*> files();

  MetricsColumns columns_;
  EventFile train_, validation_;
  std::optional<EventFile> clean_, steps_;
};

}  // namespace trainyard

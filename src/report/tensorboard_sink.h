// The curves of a run for TensorBoard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "formats/tensorboard.h"
#include "report/csv_sink.h"
#include "report/metrics.h"

namespace trainyard {

/// The events of one curve folder, counted by epoch or by step. Each start of a run has a file of
/// its own there, since TensorBoard does not read again what it has read.
class EventFile {
 public:
  /// Opens a new file in `folder` for a run that continues after `last` (0: from the start).
  /// Earlier files lose the events after `last`, and what follows a damaged record. Disk and clock
  /// must outlive it. Throws Error{disk}.
  EventFile(const Disk& disk, const Clock& clock, const std::filesystem::path& folder,
            std::int64_t last);

  /// One write(2); nothing if `summary` is empty.
  void append(std::int64_t step, const EventSummary& summary);
  void sync() { file_->sync(); }
  /// The step of texts and images about what follows.
  [[nodiscard]] std::int64_t first_step() const { return first_step_; }
  /// A warning about a damaged file, or "".
  [[nodiscard]] const std::string& warning() const { return warning_; }

 private:
  [[nodiscard]] EventPlace at(std::int64_t step) const { return {clock_.utc_seconds(), step}; }
  void cut(const std::filesystem::path& path);

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
  TensorboardSink(const Disk& disk, const Clock& clock, const std::filesystem::path& folder,
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

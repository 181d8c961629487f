// The curves of a run for TensorBoard.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/csv_sink.h"
#include "report/event_file.h"
#include "report/metrics.h"

namespace trainyard {

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

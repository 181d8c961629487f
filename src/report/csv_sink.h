// metrics.csv, one row per epoch, and steps.csv, one row per step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "report/csv_file.h"
#include "report/metrics.h"

namespace trainyard {

/// What determines the columns of metrics.csv, before row 1.
struct MetricsColumns {
  /// Metrics besides accuracy, in order: "top5_accuracy". Each gets its val_ twin.
  std::vector<std::string> extra_metrics;
  /// reg_loss and total_loss after loss.
  bool regularisation = false;
  /// clean_loss and clean_accuracy, of a clean pass over training samples, after the val_ columns.
  bool clean = false;
};

/// epoch, step, samples, loss, accuracy, …: reproducible columns first, times last.
[[nodiscard]] std::vector<std::string> epoch_columns(const MetricsColumns& columns);
[[nodiscard]] std::vector<std::string> step_columns();

/// The fields of `row` in the order of epoch_columns(). A metric without a column is a bug.
[[nodiscard]] CsvRow epoch_fields(const MetricsColumns& columns, const EpochRow& row);
[[nodiscard]] CsvRow step_fields(const StepRow& row);

/// The fields of `row` that were measured, under their columns.
[[nodiscard]] std::vector<NamedValue> measured(const std::vector<std::string>& columns,
                                               const CsvRow& row);

/// The validation values in the row of `epoch` of a metrics.csv text, in the order of its columns;
/// empty if there is no such row.
[[nodiscard]] std::vector<NamedValue> validation_values(std::string_view csv, std::int64_t epoch);
/// The losses and metrics of both splits in the last row of a metrics.csv text, in the order of its
/// columns; empty if there is no row.
[[nodiscard]] std::vector<NamedValue> last_values(std::string_view csv);
/// The values of the last clean pass in a metrics.csv text; epoch 0: there was none.
[[nodiscard]] EpochValues last_clean_values(std::string_view csv);

/// Where a run continues: rows after these are cut.
struct ResumePoint {
  std::int64_t epoch = 0;  // finished epochs
  std::int64_t step = 0;   // finished steps
};

/// Writes `folder`/metrics.csv and, if requested, `folder`/steps.csv.
class CsvSink final : public MetricsSink {
 public:
  /// `disk` must outlive the sink. Throws as CsvFile.
  CsvSink(const Disk& disk, const fs::path& folder, MetricsColumns columns,
          const ResumePoint& resume, bool with_steps);

  void on_epoch(const EpochRow& row) override;
  void on_step(const StepRow& row) override;
  void sync() override;
  /// One line for each file that lacks rows up to the resume point.
  [[nodiscard]] std::vector<std::string> missing_rows() const;

 private:
  MetricsColumns columns_;
  CsvFile epochs_;
  std::optional<CsvFile> steps_;
};

}  // namespace trainyard

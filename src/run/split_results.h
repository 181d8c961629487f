// What the outputs for a whole split tell: tables per class, of a run's validation split at its end
// and of `train eval`, and metrics that need all outputs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/feed/batch_fields.h"
#include "data/sets/dataset.h"
#include "ops/metric.h"
#include "report/class_table.h"
#include "run/config/run_config.h"
#include "run/run_folder.h"

namespace trainyard {

/// What the outputs for a split make of its classes.
struct ClassTables {
  std::vector<std::string> names;  // names of the classes
  ConfusionMatrix matrix;
  std::vector<ClassRow> rows;
  std::vector<SamplePrediction> predictions;  // indexed by sample
  std::vector<Mistake> mistakes;              // mistakes among these
};

/// Tables of the predictions that `outputs`, [set.size(), width], make; with width 1 a value above
/// `threshold` predicts class 1. A threshold of 0 belongs to logits, another one to probabilities.
/// Samples labelled `ignored` are not counted.
[[nodiscard]] ClassTables class_tables(const Dataset& set, std::span<const float> outputs,
                                       double threshold, std::optional<std::int64_t> ignored);

/// A whole file.
struct TextFile {
  std::string name, text;
};
/// classes.csv, confusion.csv and mistakes.csv, with the files of `set`, which the tables are of.
[[nodiscard]] std::vector<TextFile> csv_files(const ClassTables& tables, const Dataset& set);

/// Writes them into the folder `eval` of a run. Throws Error{disk}.
void write_class_tables(const RunFolder& folder, const ClassTables& tables, const Dataset& set);

/// Computes the metrics of a split (Metric::of_split) from its samples' outputs.
class SplitMetrics {
 public:
  /// Samples whose weight is 0 by `rule` are not counted, as in the other metrics. `set` is the
  /// split.
  SplitMetrics(const RunConfig& run, const Dataset& set,
               const std::optional<ClassWeightPolicy>& rule);
  /// `rows` as take_outputs() gives them. NaN if it is not defined for them.
  [[nodiscard]] double value(const Metric& metric, std::span<const float> rows) const;
  /// Why a value is not a number.
  [[nodiscard]] std::string fault() const;

 private:
  [[nodiscard]] std::optional<double> precision_of(const SplitOutputs& outputs) const;

  std::vector<bool> counted_;         // indexed by sample
  std::vector<std::int32_t> labels_;  // indexed by sample; -1: not counted
  std::vector<float> targets_;  // [samples, width] of the loss on the last layer; empty: labels
  std::int64_t classes_;
  double threshold_;
};

}  // namespace trainyard

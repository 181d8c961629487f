#include "run/split_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "report/class_scores.h"
#include "run/session/sample_losses.h"
#include "run/session/session_model.h"

namespace trainyard {

namespace {

/// The place of the field with the samples' own weights; 0, the label's: there is none.
std::size_t own_weights_of(const Dataset& set, const ClassWeightPolicy& rule) {
  const std::vector<SampleField> fields = set.fields();
  const auto found = std::ranges::find(fields, rule.field, &SampleField::name);
  return rule.field.empty() || found == fields.end()
             ? 0
             : static_cast<std::size_t>(found - fields.begin());
}

/// By sample: whether its weight is not 0.
std::vector<bool> counted_samples(const Dataset& set,
                                  const std::optional<ClassWeightPolicy>& rule) {
  std::vector<bool> counted(static_cast<std::size_t>(set.size()), true);
  if (!rule) return counted;
  const std::size_t own_weights = own_weights_of(set, *rule);
  for (std::int64_t i = 0; i < set.size(); ++i) {
    float own = 1;
    if (own_weights > 0) {
      set.read_field(own_weights, i, reinterpret_cast<std::byte*>(&own));
    }
    counted[static_cast<std::size_t>(i)] = rule->weight(set.label(i), own) != 0;
  }
  return counted;
}

std::vector<std::int32_t> counted_labels(const Dataset& set, const std::vector<bool>& counted) {
  std::vector<std::int32_t> labels(counted.size());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    labels[i] = counted[i] ? set.label(static_cast<std::int64_t>(i)) : -1;
  }
  return labels;
}

}  // namespace

ClassTables class_tables(const Dataset& set, std::span<const float> outputs, double threshold,
                         std::optional<std::int64_t> ignored) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(set.size()));
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const std::int32_t label = set.label(i);
    labels[static_cast<std::size_t>(i)] = label == ignored ? -1 : label;
  }
  const SplitOutputs split{.rows = outputs,
                           .labels = labels,
                           .classes = std::max<std::int64_t>(set.classes(), 2),
                           .threshold = threshold,
                           .logits = threshold == 0};
  ConfusionMatrix matrix(split);
  std::vector<ClassRow> rows = class_rows(split, matrix);
  std::vector<SamplePrediction> predictions = sample_predictions(split);
  std::vector<Mistake> mistakes = most_confident_mistakes(predictions);
  return {.names = set.class_names(),
          .matrix = std::move(matrix),
          .rows = std::move(rows),
          .predictions = std::move(predictions),
          .mistakes = std::move(mistakes)};
}

std::vector<TextFile> csv_files(const ClassTables& tables, const Dataset& set) {
  std::vector<std::string> files;
  for (const Mistake& mistake : tables.mistakes) files.push_back(set.file(mistake.sample));
  std::erase(files, "");  // all of them, if samples have no files
  return {{"classes.csv", classes_csv(tables.rows, tables.names)},
          {"confusion.csv", confusion_csv(tables.matrix, tables.names)},
          {"mistakes.csv", mistakes_csv(tables.mistakes, tables.names, files)}};
}

void write_class_tables(const RunFolder& folder, const ClassTables& tables, const Dataset& set) {
  static_cast<void>(folder.subfolder("eval"));
  for (const TextFile& file : csv_files(tables, set)) folder.write("eval/" + file.name, file.text);
}

SplitMetrics::SplitMetrics(const RunConfig& run, const Dataset& set,
                           const std::optional<ClassWeightPolicy>& rule)
    : counted_(counted_samples(set, rule)),
      labels_(counted_labels(set, counted_)),
      targets_(split_targets(run, set).value_or(SplitTargets{}).numbers),
      classes_(std::max<std::int64_t>(set.classes(), 2)),
      threshold_(usual_threshold(run)) {}

double SplitMetrics::value(const Metric& metric, std::span<const float> rows) const {
  const SplitOutputs outputs{.rows = rows,
                             .labels = labels_,
                             .classes = classes_,
                             .threshold = threshold_,
                             .logits = threshold_ == 0};
  const bool area = metric.type() == "auc";
  TY_CHECK(area || metric.type() == "mean_average_precision", "a metric of the split");
  const std::optional<double> value = area ? mean_area_under_curve(outputs) : precision_of(outputs);
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

std::optional<double> SplitMetrics::precision_of(const SplitOutputs& outputs) const {
  if (targets_.empty()) return mean_average_precision(outputs);
  return mean_average_precision(outputs.rows, targets_, counted_);
}

std::string SplitMetrics::fault() const {
  if (!targets_.empty()) {
    return "an output of the network is not a number, or no sample has a label";
  }
  std::set<std::int32_t> classes(labels_.begin(), labels_.end());
  classes.erase(-1);
  if (classes.size() > 1) return "an output of the network is not a number";
  if (classes.empty()) return "";
  return fmt::format("all samples are of class {}, and it takes two", *classes.begin());
}

}  // namespace trainyard

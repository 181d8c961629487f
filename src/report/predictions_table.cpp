#include "report/predictions_table.h"

#include <optional>

#include "report/csv_file.h"

namespace trainyard {
namespace {

constexpr int kPlaces = 6;  // digits of a probability, as in mistakes.csv

/// sample and name.
CsvRow row_of_sample(const PredictedSplit& split, std::size_t i) {
  CsvRow row;
  row.add(static_cast<std::int64_t>(i)).add_text(split.names[i]);
  return row;
}

std::optional<double> loss_of(const PredictedSplit& split, std::size_t i, bool counted) {
  if (split.losses.empty() || !counted) return std::nullopt;
  return static_cast<double>(split.losses[i]);
}

std::span<const float> outputs_of(const PredictedSplit& split, std::size_t i) {
  const std::size_t width = split.outputs.size() / split.names.size();
  return std::span(split.outputs).subspan(i * width, width);
}

double value_of_output(const PredictedSplit& split, std::size_t i, std::size_t c) {
  const std::span<const float> row = outputs_of(split, i);
  if (!split.logits) return row[c];
  if (split.softmax) return probability_of(row, static_cast<std::int64_t>(c), true);
  return probability_of(row.subspan(c, 1), 1, true);
}

void add_columns(CsvRow& head, const std::string& name, std::size_t count) {
  for (std::size_t c = 1; c <= count; ++c) head.add(name + "_" + std::to_string(c));
}

}  // namespace

std::string predictions_csv(const PredictedSplit& split,
                            std::span<const SamplePrediction> predictions,
                            std::span<const std::string> names, std::int64_t classes) {
  CsvRow head;
  for (const char* column : {"sample", "name", "label", "predicted", "probability", "loss"}) {
    head.add(column);
  }
  const std::int64_t listed = classes <= kMostProbabilities ? classes : 0;
  for (std::int64_t c = 0; c < listed; ++c) {
    head.add_text("probability_" + name_of_class(names, c));
  }
  std::string text = head.text();
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const SamplePrediction& one = predictions[i];
    const bool counted = one.label >= 0, decided = one.predicted >= 0;
    CsvRow row = row_of_sample(split, i);
    row.add_text(counted ? name_of_class(names, one.label) : std::to_string(split.labels[i]));
    row.add_text(decided ? name_of_class(names, one.predicted) : "none");
    row.add_rounded(decided ? std::optional(one.probability) : std::nullopt, kPlaces);
    row.add_rounded(loss_of(split, i, counted), kPlaces);
    for (std::int64_t c = 0; c < listed; ++c) {
      row.add_rounded(probability_of(outputs_of(split, i), c, split.logits), kPlaces);
    }
    text += row.text();
  }
  return text;
}

std::string predictions_csv(const PredictedSplit& split) {
  const std::size_t width = split.outputs.size() / split.names.size();
  CsvRow head;
  for (const char* column : {"sample", "name", "loss"}) head.add(column);
  if (split.numbers.empty()) head.add("label");
  add_columns(head, "target", split.numbers.empty() ? 0 : width);
  add_columns(head, "output", width);
  std::string text = head.text();
  for (std::size_t i = 0; i < split.names.size(); ++i) {
    CsvRow row = row_of_sample(split, i);
    row.add(loss_of(split, i, true));
    if (split.numbers.empty()) row.add(std::int64_t{split.labels[i]});
    for (std::size_t c = 0; c < width && !split.numbers.empty(); ++c) {
      row.add(static_cast<double>(split.numbers[i * width + c]));
    }
    for (std::size_t c = 0; c < width; ++c) row.add(value_of_output(split, i, c));
    text += row.text();
  }
  return text;
}

}  // namespace trainyard

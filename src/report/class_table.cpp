#include "report/class_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "report/class_scores.h"
#include "report/csv_file.h"

namespace trainyard {
namespace {

std::optional<double> ratio(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

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

/// The class that a row of `outputs` predicts: the first of those with the largest output; classes
/// for none, if an output is NaN.
std::int64_t predicted_class(std::span<const float> row, const SplitOutputs& outputs) {
  if (std::ranges::any_of(row, [](float value) { return value != value; })) return outputs.classes;
  if (row.size() == 1) return row[0] > outputs.threshold ? 1 : 0;
  return std::ranges::max_element(row) - row.begin();
}

}  // namespace

std::string name_of_class(std::span<const std::string> names, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  return at < names.size() ? names[at] : std::to_string(index);
}

ConfusionMatrix::ConfusionMatrix(const SplitOutputs& outputs)
    : classes_(outputs.classes),
      counts_(static_cast<std::size_t>(outputs.classes * (outputs.classes + 1))) {
  TY_CHECK(!outputs.labels.empty() && outputs.rows.size() % outputs.labels.size() == 0,
           "a row of outputs for each label");
  const std::size_t width = outputs.rows.size() / outputs.labels.size();
  for (std::size_t i = 0; i < outputs.labels.size(); ++i) {
    if (outputs.labels[i] < 0) continue;
    const std::int64_t guess = predicted_class(outputs.rows.subspan(i * width, width), outputs);
    ++counts_[static_cast<std::size_t>(outputs.labels[i] * (classes_ + 1) + guess)];
  }
}

std::int64_t ConfusionMatrix::count(std::int64_t labelled, std::int64_t predicted) const {
  return counts_[static_cast<std::size_t>(labelled * (classes_ + 1) + predicted)];
}

std::string confusion_csv(const ConfusionMatrix& matrix, std::span<const std::string> names) {
  CsvRow head;
  head.add("label");
  for (std::int64_t c = 0; c < matrix.classes(); ++c) head.add_text(name_of_class(names, c));
  std::string text = head.add("none").text();
  for (std::int64_t labelled = 0; labelled < matrix.classes(); ++labelled) {
    CsvRow row;
    row.add_text(name_of_class(names, labelled));
    for (std::int64_t c = 0; c <= matrix.classes(); ++c) row.add(matrix.count(labelled, c));
    text += row.text();
  }
  return text;
}

std::vector<ClassRow> class_rows(const SplitOutputs& outputs, const ConfusionMatrix& matrix) {
  std::vector<ClassRow> rows;
  for (std::int64_t c = 0; c < matrix.classes(); ++c) {
    ClassRow row{.right = matrix.count(c, c)};
    for (std::int64_t other = 0; other <= matrix.classes(); ++other) {
      row.samples += matrix.count(c, other);
      if (other < matrix.classes()) row.predicted += matrix.count(other, c);
    }
    row.precision = ratio(row.right, row.predicted);
    row.recall = ratio(row.right, row.samples);
    row.f1 = ratio(2 * row.right, row.samples + row.predicted);
    row.auc = area_under_curve(outputs, c);
    rows.push_back(row);
  }
  return rows;
}

std::string classes_csv(std::span<const ClassRow> rows, std::span<const std::string> names) {
  std::string text = "class,name,samples,predicted,right,precision,recall,f1,auc\n";
  for (std::size_t c = 0; c < rows.size(); ++c) {
    const ClassRow& of = rows[c];
    const auto number = static_cast<std::int64_t>(c);
    CsvRow row;
    row.add(number).add_text(name_of_class(names, number));
    row.add(of.samples).add(of.predicted).add(of.right);
    text += row.add(of.precision).add(of.recall).add(of.f1).add(of.auc).text();
  }
  return text;
}

std::string classes_text(std::span<const ClassRow> rows, std::span<const std::string> names) {
  std::size_t width = std::string_view("class").size();
  for (std::size_t c = 0; c < rows.size(); ++c) {
    width = std::max(width, name_of_class(names, static_cast<std::int64_t>(c)).size());
  }
  const auto cell = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4f}", *value) : std::string("-");
  };
  std::string text = fmt::format("{:<{}}  {:>8}  {:>9}  {:>6}  {:>6}  {:>6}\n", "class", width,
                                 "samples", "precision", "recall", "f1", "auc");
  for (std::size_t c = 0; c < rows.size(); ++c) {
    text += fmt::format("{:<{}}  {:>8}  {:>9}  {:>6}  {:>6}  {:>6}\n",
                        name_of_class(names, static_cast<std::int64_t>(c)), width, rows[c].samples,
                        cell(rows[c].precision), cell(rows[c].recall), cell(rows[c].f1),
                        cell(rows[c].auc));
  }
  return text;
}

double probability_of(std::span<const float> row, std::int64_t index, bool logits) {
  if (row.size() == 1) {
    const double value = row[0];
    const double one = logits ? 1 / (1 + std::exp(-value)) : value;
    return index == 1 ? one : 1 - one;
  }
  const double own = row[static_cast<std::size_t>(index)];
  if (!logits) return own;
  const double largest = *std::ranges::max_element(row);
  double sum = 0;
  for (const float value : row) sum += std::exp(value - largest);
  return std::exp(own - largest) / sum;
}

std::vector<SamplePrediction> sample_predictions(const SplitOutputs& outputs) {
  std::vector<SamplePrediction> predictions;
  const std::size_t width = outputs.rows.size() / outputs.labels.size();
  for (std::size_t i = 0; i < outputs.labels.size(); ++i) {
    const std::span<const float> row = outputs.rows.subspan(i * width, width);
    const std::int64_t predicted = predicted_class(row, outputs);
    SamplePrediction one{.label = outputs.labels[i], .predicted = -1};
    if (predicted != outputs.classes) {
      one.predicted = predicted;
      one.probability = probability_of(row, predicted, outputs.logits);
    }
    predictions.push_back(one);
  }
  return predictions;
}

std::vector<Mistake> most_confident_mistakes(std::span<const SamplePrediction> predictions,
                                             std::size_t most) {
  std::vector<Mistake> mistakes;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const SamplePrediction& one = predictions[i];
    if (one.label < 0 || one.predicted < 0 || one.predicted == one.label) continue;
    mistakes.push_back({.sample = static_cast<std::int64_t>(i),
                        .label = one.label,
                        .predicted = one.predicted,
                        .probability = one.probability});
  }
  std::ranges::stable_sort(mistakes, std::ranges::greater{}, &Mistake::probability);
  mistakes.resize(std::min(mistakes.size(), most));
  return mistakes;
}

std::string mistakes_csv(std::span<const Mistake> mistakes, std::span<const std::string> names,
                         std::span<const std::string> files) {
  std::string text = "sample,label,predicted,probability";
  text += files.empty() ? "\n" : ",file\n";
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    const Mistake& mistake = mistakes[i];
    CsvRow row;
    row.add(mistake.sample).add_text(name_of_class(names, mistake.label));
    row.add_text(name_of_class(names, mistake.predicted)).add_rounded(mistake.probability, 6);
    if (!files.empty()) row.add_text(files[i]);
    text += row.text();
  }
  return text;
}

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

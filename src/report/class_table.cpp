#include "report/class_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "report/area_under_curve.h"
#include "report/csv_file.h"

namespace trainyard {

namespace {

std::optional<double> ratio(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::int64_t predicted_class(std::span<const float> row, const SplitOutputs& outputs) {
  if (std::ranges::any_of(row, [](float value) { return value != value; })) return outputs.classes;
  if (row.size() == 1) return row[0] > outputs.threshold ? 1 : 0;
  return std::ranges::max_element(row) - row.begin();
}

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

}  // namespace trainyard

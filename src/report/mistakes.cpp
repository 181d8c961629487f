#include "report/mistakes.h"

#include <algorithm>
#include <cmath>

#include "report/csv_file.h"

namespace trainyard {

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

std::vector<Mistake> most_confident_mistakes(const SplitOutputs& outputs, std::size_t most) {
  std::vector<Mistake> mistakes;
  const std::size_t width = outputs.rows.size() / outputs.labels.size();
  for (std::size_t i = 0; i < outputs.labels.size(); ++i) {
    const std::span<const float> row = outputs.rows.subspan(i * width, width);
    const std::int64_t predicted = predicted_class(row, outputs);
    if (outputs.labels[i] < 0 || predicted == outputs.labels[i] || predicted == outputs.classes)
      continue;
    mistakes.push_back({.sample = static_cast<std::int64_t>(i),
                        .label = outputs.labels[i],
                        .predicted = predicted,
                        .probability = probability_of(row, predicted, outputs.logits)});
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

#include "report/mistakes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "report/csv_file.h"

namespace trainyard {
namespace {

struct Mistake {
  std::int64_t sample = 0;
  std::int64_t predicted = 0;
  double probability = 0;
};

/// Of the predicted class.
double probability_of(std::span<const float> row, std::int64_t predicted, bool logits) {
  if (row.size() == 1) {
    const double value = row[0];
    const double one = logits ? 1 / (1 + std::exp(-value)) : value;
    return predicted == 1 ? one : 1 - one;
  }
  const double largest = row[static_cast<std::size_t>(predicted)];
  if (!logits) return largest;
  double sum = 0;
  for (const float value : row) sum += std::exp(value - largest);
  return 1 / sum;
}

std::vector<Mistake> mistakes_of(const SplitOutputs& outputs) {
  std::vector<Mistake> mistakes;
  const std::size_t width = outputs.rows.size() / outputs.labels.size();
  for (std::size_t i = 0; i < outputs.labels.size(); ++i) {
    const std::span<const float> row = outputs.rows.subspan(i * width, width);
    const std::int64_t predicted = predicted_class(row, outputs);
    if (outputs.labels[i] < 0 || predicted == outputs.labels[i] || predicted == outputs.classes)
      continue;
    mistakes.push_back({.sample = static_cast<std::int64_t>(i),
                        .predicted = predicted,
                        .probability = probability_of(row, predicted, outputs.logits)});
  }
  return mistakes;
}

}  // namespace

std::string mistakes_csv(const SplitOutputs& outputs, std::span<const std::string> names,
                         std::size_t most) {
  std::vector<Mistake> mistakes = mistakes_of(outputs);
  std::ranges::stable_sort(mistakes, std::ranges::greater{}, &Mistake::probability);
  mistakes.resize(std::min(mistakes.size(), most));
  std::string text = "sample,label,predicted,probability\n";
  for (const Mistake& mistake : mistakes) {
    const std::int32_t label = outputs.labels[static_cast<std::size_t>(mistake.sample)];
    CsvRow row;
    row.add(mistake.sample).add_text(name_of_class(names, label));
    row.add_text(name_of_class(names, mistake.predicted)).add_rounded(mistake.probability, 6);
    text += row.text();
  }
  return text;
}

}  // namespace trainyard

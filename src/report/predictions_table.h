// predictions.csv: what a network makes of every sample of a split.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/class_table.h"

namespace trainyard {

/// A split of `names.size()` samples, of which everything else has a row each.
struct PredictedSplit {
  std::vector<std::string> names;         // names of the samples
  std::vector<float> outputs;             // [samples, width]
  std::vector<float> losses = {};         // [samples]; empty: not known
  std::vector<float> numbers = {};        // targets [samples, width]; empty: labels
  std::vector<std::int32_t> labels = {};  // [samples], if there are no numbers
  bool logits = false;   // outputs precede a softmax over the row, or a sigmoid of each
  bool softmax = false;  // true for logits that are not of classes: a softmax
  std::vector<std::string> number_names = {};  // names of the columns of `numbers`
};

/// Classes whose probabilities have a column each; of more only that of the predicted one is given.
inline constexpr std::int64_t kMostProbabilities = 100;

/// A table of classes: sample,name,label,predicted,probability,loss, and probability_CLASS of each
/// class, up to kMostProbabilities of them. `predictions` are those of `split`, `names` the
/// classes'. A sample that is not counted has its label's number and no loss; `predicted` is `none`
/// if an output is NaN.
[[nodiscard]] std::string predictions_csv(const PredictedSplit& split,
                                          std::span<const SamplePrediction> predictions,
                                          std::span<const std::string> names, std::int64_t classes);
/// A table of numbers: sample,name,loss, then target_1... (or label) and output_1..., which are
/// probabilities if the loss reads logits.
[[nodiscard]] std::string predictions_csv(const PredictedSplit& split);

}  // namespace trainyard

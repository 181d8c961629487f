// Predictions of a split: per class, and predictions.csv, what a network makes of every sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// The network's outputs for a split, and its labels.
struct SplitOutputs {
  std::span<const float> rows;           // [labels.size(), width]
  std::span<const std::int32_t> labels;  // in [0, classes); below 0: not counted
  std::int64_t classes = 2;
  double threshold = 0;  // with width 1: a value above it predicts class 1
  bool logits = true;    // rows precede a softmax, or with width 1 a sigmoid; else probabilities
};

/// Its name, or its number if it has none.
[[nodiscard]] std::string name_of_class(std::span<const std::string> names, std::int64_t index);

/// How often samples of each class are predicted as each class.
class ConfusionMatrix {
 public:
  explicit ConfusionMatrix(const SplitOutputs& outputs);

  [[nodiscard]] std::int64_t classes() const { return classes_; }
  /// Samples with label `labelled` that are predicted as class `predicted`; `predicted` =
  /// classes(): as none.
  [[nodiscard]] std::int64_t count(std::int64_t labelled, std::int64_t predicted) const;

 private:
  std::int64_t classes_;
  std::vector<std::int64_t> counts_;  // [classes, classes + 1]
};

/// confusion.csv: a row per class of the labels, a column per predicted class, and `none` for
/// samples whose outputs are NaN. Classes without a name get their number.
[[nodiscard]] std::string confusion_csv(const ConfusionMatrix& matrix,
                                        std::span<const std::string> names);
/// How well one class is predicted; a ratio whose denominator is 0 is empty.
struct ClassRow {
  std::int64_t samples = 0, predicted = 0, right = 0;
  std::optional<double> precision, recall, f1, auc;
};
/// A row for each class; `matrix` is that of `outputs`.
[[nodiscard]] std::vector<ClassRow> class_rows(const SplitOutputs& outputs,
                                               const ConfusionMatrix& matrix);

/// classes.csv: class,name,samples,predicted,right,precision,recall,f1,auc.
[[nodiscard]] std::string classes_csv(std::span<const ClassRow> rows,
                                      std::span<const std::string> names);
/// The same for people, in aligned columns: class, samples, precision, recall, f1 and auc.
[[nodiscard]] std::string classes_text(std::span<const ClassRow> rows,
                                       std::span<const std::string> names);

/// The probability of class `index` in a row of `outputs`.
[[nodiscard]] double probability_of(std::span<const float> row, std::int64_t index, bool logits);

// Predictions of a split, sample by sample, and the wrong ones of them.

struct SamplePrediction {
  std::int64_t label = 0;      // below 0: not counted
  std::int64_t predicted = 0;  // -1: none, as an output is NaN
  double probability = 0;      // probability of the predicted class
};

/// The prediction of each row.
[[nodiscard]] std::vector<SamplePrediction> sample_predictions(const SplitOutputs& outputs);

struct Mistake {
  std::int64_t sample = 0;
  std::int64_t label = 0;
  std::int64_t predicted = 0;
  double probability = 0;  // probability of the predicted class
};

/// The wrong predictions with the highest probabilities, at most `most` of them, the highest first,
/// equal ones by index. Rows of no class are left out.
[[nodiscard]] std::vector<Mistake> most_confident_mistakes(
    std::span<const SamplePrediction> predictions, std::size_t most = 100);

/// mistakes.csv: sample,label,predicted,probability, and file with `files`, one for each mistake;
/// none: samples have no files. `names` are those of the classes.
[[nodiscard]] std::string mistakes_csv(std::span<const Mistake> mistakes,
                                       std::span<const std::string> names,
                                       std::span<const std::string> files = {});

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

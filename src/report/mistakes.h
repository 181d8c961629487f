// Wrong predictions of a split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/class_table.h"

namespace trainyard {

struct Mistake {
  std::int64_t sample = 0;
  std::int64_t label = 0;
  std::int64_t predicted = 0;
  double probability = 0;  // of the predicted class
};

/// The probability of class `index` in a row of `outputs`.
[[nodiscard]] double probability_of(std::span<const float> row, std::int64_t index, bool logits);

/// The wrong predictions with the highest probabilities, at most `most` of them, the highest first,
/// equal ones by index. Rows with a NaN predict nothing and are left out.
[[nodiscard]] std::vector<Mistake> most_confident_mistakes(const SplitOutputs& outputs,
                                                           std::size_t most = 100);

/// mistakes.csv: sample,label,predicted,probability, and file with `files`, one for each mistake;
/// none: samples have no files. `names` are those of the classes.
[[nodiscard]] std::string mistakes_csv(std::span<const Mistake> mistakes,
                                       std::span<const std::string> names,
                                       std::span<const std::string> files = {});

}  // namespace trainyard

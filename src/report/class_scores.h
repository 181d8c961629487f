// The scores of samples as members of a class.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "report/class_table.h"

namespace trainyard {

struct ScoredSample {
  double score = 0;
  bool of_class = false;
};

/// What turns the logits x of a row into log p = x - top - log_sum, which keeps apart what p would
/// round to 1.
struct LogSum {
  double top = 0, log_sum = 0;
};

/// Empty if the rows are probabilities, or a single output.
[[nodiscard]] std::vector<LogSum> log_sums(const SplitOutputs& outputs);

/// The counted samples with their score for class `c`: its probability, as a logarithm with `sums`,
/// or of a single output that, for class 0 its negative.
[[nodiscard]] std::vector<ScoredSample> scored_samples(const SplitOutputs& outputs,
                                                       std::span<const LogSum> sums,
                                                       std::int64_t c);

/// The mean of the values of 0 to count - 1 that are defined; empty if none is.
[[nodiscard]] std::optional<double> mean_of_defined(
    std::int64_t count, const std::function<std::optional<double>(std::int64_t)>& value);

}  // namespace trainyard

// How far relevant samples come before the others, when they are sorted by a score.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "report/class_scores.h"

namespace trainyard {

/// The sum over thresholds, the distinct scores from the largest on, of (recall - recall at the
/// threshold before) * precision: scikit-learn's average_precision_score. Empty if no sample is of
/// the class (which is 0 there), or a score is NaN.
[[nodiscard]] std::optional<double> average_precision(std::vector<ScoredSample> samples);

/// One number for all classes: of two, or with one output, that of class 1; else the mean over the
/// classes that samples have. Empty if there is none.
[[nodiscard]] std::optional<double> mean_average_precision(const SplitOutputs& outputs);

/// The same of several labels at once: the mean over outputs for which some target is above 1/2.
/// `rows` and `targets` are [samples, width], `counted` says of each sample whether it counts.
[[nodiscard]] std::optional<double> mean_average_precision(std::span<const float> rows,
                                                           std::span<const float> targets,
                                                           const std::vector<bool>& counted);

}  // namespace trainyard

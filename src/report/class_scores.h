// How well the scores of samples as members of a class tell its members from the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "report/class_table.h"

namespace trainyard {

/// A sample with its score for a class.
struct ScoredSample {
  double score = 0;
  bool of_class = false;
};

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

/// The probability that a sample of class `c` has a larger score than a sample of another class,
/// where equal scores count half (Hanley and McNeil 1982; scikit-learn's roc_auc_score, one class
/// against the rest). A score is the class's probability; with one output it is the output, or for
/// class 0 its negative. Exact: from the ranks of all samples. Empty if one of both sides has no
/// samples, or a score is NaN.
[[nodiscard]] std::optional<double> area_under_curve(const SplitOutputs& outputs, std::int64_t c);

/// One number for all classes: of two, or with one output, that of class 1; else the mean over the
/// classes for which it is defined (scikit-learn's multi_class='ovr', average='macro'). Empty if it
/// is defined for none.
[[nodiscard]] std::optional<double> mean_area_under_curve(const SplitOutputs& outputs);

}  // namespace trainyard

// The area under the receiver operating characteristic of a class.
#pragma once

#include <cstdint>
#include <optional>

#include "report/class_table.h"

namespace trainyard {

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

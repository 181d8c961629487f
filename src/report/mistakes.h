// Wrong predictions of a split.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "report/class_table.h"

namespace trainyard {

/// mistakes.csv: sample,label,predicted,probability. The wrong predictions with the highest
/// probabilities, at most `most` of them, the highest first, equal ones by index; `probability` is
/// that of the predicted class. Rows with a NaN predict nothing and are left out.
[[nodiscard]] std::string mistakes_csv(const SplitOutputs& outputs,
                                       std::span<const std::string> names, std::size_t most = 100);

}  // namespace trainyard

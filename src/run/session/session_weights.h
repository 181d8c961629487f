// What the batches of a run have besides images: fields of the samples, and weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/weight_rule.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The weights of samples that a run has, from `class_weights`, `ignore_label` and
/// `sample_weights`, and of positions that `mask` leaves out (WeightRule); empty: none. Throws
/// Error{config} at a class that the training split does not have or at a weight that is none, and
/// for labels below 0 that nothing ignores.
[[nodiscard]] std::optional<WeightRule> weight_rule(const RunConfig& run, const Dataset& train,
                                                    const std::string& mask = "");

}  // namespace trainyard

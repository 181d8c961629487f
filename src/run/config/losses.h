// The losses of a run, `loss` and `heads`, and its metrics.
#pragma once

#include <memory>
#include <vector>

#include "config/fields.h"
#include "run/config/run_config.h"

namespace trainyard {

/// `loss`, then those of `heads`.
[[nodiscard]] std::vector<std::shared_ptr<const LossOp>> losses_of(const RunConfig& run);

/// Reports a second loss on one output, and more losses than a sum can have.
void check_heads(config::Fields& fields, const RunConfig& run);

/// Reports losses whose targets are not classes, if the run mixes samples (`data.mix`).
void check_mix(config::Fields& fields, const RunConfig& run);

/// Reports two metrics with one column of metrics.csv, of which every reader would take another.
void check_metrics(config::Fields& fields, const RunConfig& run);

}  // namespace trainyard

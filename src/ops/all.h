// The losses and metrics that YAML can name; op_kinds() is in op.h.
#pragma once

#include <span>

#include "ops/loss.h"
#include "ops/metric.h"

namespace trainyard {

/// Losses that the session attaches to a network: inputs [values [n, classes], target, weights?],
/// output [n]; see loss.h. A run file names one as `loss: cross_entropy`.
[[nodiscard]] std::span<const config::Kind<AnyLoss>> loss_kinds();
/// Metrics: inputs [values [n, classes], labels i32 [n]].
[[nodiscard]] std::span<const config::Kind<Metric>> metric_kinds();

}  // namespace trainyard

// The losses and metrics that YAML can name; op_kinds() is in op.h.
#pragma once

#include <span>

#include "ops/metric.h"

namespace trainyard {

/// Losses that the session attaches to a network: inputs [values [n, classes], labels i32 [n]],
/// output [n]. A run file names one as `loss: cross_entropy`.
[[nodiscard]] std::span<const config::Kind<Op>> loss_kinds();
/// Metrics, with the same inputs.
[[nodiscard]] std::span<const config::Kind<Metric>> metric_kinds();

}  // namespace trainyard

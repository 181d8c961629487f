// The losses of a run: `loss` and `heads`.
#pragma once

#include <memory>
#include <vector>

#include "config/fields.h"
#include "run/config/run_config.h"

namespace trainyard {

/// `loss`, then those of `heads`.
[[nodiscard]] std::vector<std::shared_ptr<const AnyLoss>> losses_of(const RunConfig& run);

/// Reports a second loss on one output, and more losses than a sum can have.
void check_heads(config::Fields& fields, const RunConfig& run);

}  // namespace trainyard

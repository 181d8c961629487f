// Exact evaluation of a whole split.
#pragma once

#include "data/feeder.h"
#include "run/model.h"

namespace trainyard {

/// Runs the evaluation program over every sample of `feeder`'s set; the padding of the last batch
/// is left out of the sums.
[[nodiscard]] Totals evaluate(Model& model, Feeder& feeder);

}  // namespace trainyard

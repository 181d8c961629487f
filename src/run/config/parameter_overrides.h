// `parameters:` of a run: learning rate, weight decay and time of training of single parameters.
#pragma once

#include <cstdint>

#include "config/diagnostics.h"
#include "graph/graph.h"
#include "optim/optimizer.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The overrides of each parameter of the run's network; of several patterns that match one,
/// each key counts as the last of them gives it. Reports a pattern that names no parameter, unknown
/// keys, and a time that is not a number of epochs or steps. Epochs have `steps` steps.
[[nodiscard]] ParameterOverrides parameter_overrides(const RunConfig& run, const Graph& graph,
                                                     std::int64_t steps,
                                                     config::Diagnostics& diagnostics);

/// State blocks that the run's optimizers need: the most that one of them has.
[[nodiscard]] int state_blocks(const RunConfig& run);

}  // namespace trainyard

// What a run can be started with, but hardly means: warnings of `train check` and of its start.
#pragma once

#include <string>

#include "data/sets/dataset.h"
#include "graph/graph.h"
#include "optim/schedule.h"
#include "run/config/run_config.h"

namespace trainyard {

/// A warm-up longer than the run, or a schedule whose last part the run does not reach; "" for
/// others. `schedule` may be null.
[[nodiscard]] std::string schedule_warning(const Schedule* schedule, std::int64_t epochs,
                                           std::int64_t steps_per_epoch);

/// Samples with values far from 1, such as 0 to 255, which neither `preprocess` nor a first layer
/// of `network` scales; "" for others. Looks at a few samples.
[[nodiscard]] std::string scale_warning(const DataConfig& config, const Dataset& train,
                                        const Graph& network);

/// A dense layer that reads a softmax; "" for none.
[[nodiscard]] std::string softmax_warning(const Graph& network);

}  // namespace trainyard

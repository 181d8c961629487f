// The plan of a training graph as text, with the memory that it takes.
#pragma once

#include <string>

#include "model/model_programs.h"

namespace trainyard {

/// Steps, tensors, offsets and memory of the training program, as its executors ask for them.
[[nodiscard]] std::string plan_text(const TrainingGraph& graph, const ExecutorFactory& executors,
                                    const ModelOptions& options);
/// The same for a target whose device is not at hand, with the most that its executors may ask for.
[[nodiscard]] std::string plan_text_without_device(const TrainingGraph& graph,
                                                   const ModelOptions& options);

}  // namespace trainyard

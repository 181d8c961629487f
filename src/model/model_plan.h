// The plan of a training graph as text, with its memory.
#pragma once

#include <string>

#include "model/model_programs.h"

namespace trainyard {

/// Steps, tensors, offsets and memory of the training program, as its executors request them.
[[nodiscard]] std::string plan_text(const TrainingGraph& graph, const ExecutorFactory& executors,
                                    const ModelOptions& options);
/// The same for a target without its device, with the most that its executors may request.
[[nodiscard]] std::string plan_text_without_device(const TrainingGraph& graph,
                                                   const ModelOptions& options);

}  // namespace trainyard

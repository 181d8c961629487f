// Whether a model fits into the memory of its device, checked before anything is allocated.
#pragma once

#include "device/device.h"
#include "model/model_programs.h"

namespace trainyard {

/// Throws Error{memory} if `device`, a CPU, has less free than `threads` threads and the libraries
/// take without any model.
void require_program_memory(const Device& device, std::int64_t threads);

/// Throws Error{memory} if the model of `programs` takes more than `device` has free, with the
/// forecast by kind and the largest batch that would fit. A device that does not know its free
/// memory is not checked.
void require_memory(const ModelPrograms& programs, const Device& device, const TrainingGraph& graph,
                    const ExecutorFactory& executors, const ModelOptions& options);

}  // namespace trainyard

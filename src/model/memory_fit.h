// Whether a model fits into its device, asked before a byte is allocated.
#pragma once

#include "device/device.h"
#include "model/model_programs.h"

namespace trainyard {

/// Throws Error{memory} if `device`, a processor, has less free than so many threads and the
/// libraries take before there is a model.
void require_program_memory(const Device& device, std::int64_t threads);

/// Throws Error{memory} if the model of `programs` takes more than `device` has free, with the
/// forecast by kind and the largest batch that would fit. A device that does not know its free
/// memory is not asked.
void require_memory(const ModelPrograms& programs, const Device& device, const TrainingGraph& graph,
                    const ExecutorFactory& executors, const ModelOptions& options);

}  // namespace trainyard

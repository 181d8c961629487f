// The arithmetic of the GPU part on the CPU: executors for a GPU's plan, with their order of sums
// and their roundings, without CUDA, queues and captured graphs.
#pragma once

#include <memory>

#include "compute/executor.h"

namespace standin_tests {

/// For convolutions and dense layers the loops of the reference device, rounded where exec/cudnn
/// rounds; for everything else a GPU's functors, on the CPU launcher.
[[nodiscard]] std::unique_ptr<trainyard::ExecutorFactory> make_gpu_arithmetic();

}  // namespace standin_tests

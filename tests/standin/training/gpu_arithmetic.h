// The arithmetic of the GPU part on the processor: the executors that a GPU's plan runs there, in
// their order of sums and with their roundings, without CUDA, queues and captured graphs.
#pragma once

#include <memory>

#include "exec/executor.h"

namespace standin_tests {

/// The loops of the reference device for convolutions and dense layers, rounded where exec/cudnn
/// rounds; for all else the functors that a GPU runs, on the CPU's launcher.
[[nodiscard]] std::unique_ptr<trainyard::ExecutorFactory> make_gpu_arithmetic();

}  // namespace standin_tests

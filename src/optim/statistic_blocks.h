// The memory of the update of running statistics.
#pragma once

#include <cstdint>

#include "ops/running_statistics.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Running statistics and those of a batch, flat.
struct StatisticBlocks {
  void* running = nullptr;      // of the type of the weights
  const void* batch = nullptr;  // summed over ranks and micro-batches
  const StatisticRule* rules = nullptr;
  const StepState* state = nullptr;
  const double* replicas = nullptr;  // whose statistics are summed
  std::int64_t chunks = 0;
};

}  // namespace trainyard

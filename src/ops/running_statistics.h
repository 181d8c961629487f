// The update of running statistics.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "kernels/chunk.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// The rule for one statistic; one entry per chunk of the block.
struct StatisticRule {
  double momentum = 0.99;  // weight of the old value
  double batch_scale = 1;  // n / (n - 1) if the convention is unbiased
};

/// running = momentum * running + (1 - momentum) * batch_scale * batch / replicas, where `batch`
/// holds the sum over replicas. After a non-finite step the old values are unchanged. One call
/// updates a chunk of kChunk elements.
template <class T>
struct UpdateRunning {
  T* running;
  const T* batch;
  const StatisticRule* rules;  // [chunks]
  const StepState* state;
  double replicas;

  TY_HD void operator()(std::int64_t chunk) const {
    const T keep = static_cast<T>(rules[chunk].momentum);
    const T take =
        static_cast<T>((1 - rules[chunk].momentum) * rules[chunk].batch_scale / replicas);
    for (std::int64_t i = chunk * kChunk; i < (chunk + 1) * kChunk; ++i) {
      const T next = keep * running[i] + take * batch[i];
      running[i] = state->nonfinite_step >= 0 ? running[i] : next;
    }
  }
};

}  // namespace trainyard

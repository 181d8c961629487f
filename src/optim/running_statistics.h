// The update of running statistics.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "ops/step_tensors.h"
#include "tensor/launch_limits.h"

namespace trainyard {

/// The rule for one statistic; one entry per chunk of the block.
struct StatisticPolicy {
  double momentum = 0.99;  // weight of the old value
  double batch_scale = 1;  // n / (n - 1) if the convention is unbiased
};

/// running = momentum * running + (1 - momentum) * batch_scale * batch / replicas, where `batch`
/// holds the sum over that many replicas. A withheld step leaves the old values. A row is a chunk.
template <class T>
struct UpdateRunning {
  T* running;
  const T* batch;
  const StatisticPolicy* rules;  // [chunks]
  const StepState* state;
  const double* replicas;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t chunk) const {
    if (state->nonfinite_step >= 0) return;
    const StatisticPolicy rule = rules[chunk];
    const T keep = static_cast<T>(rule.momentum);
    const T take = static_cast<T>((1 - rule.momentum) * rule.batch_scale / *replicas);
    T* const own = running + chunk * kChunk;
    const T* const of_batch = batch + chunk * kChunk;
    team.each(kChunk, [=](std::int64_t i) { own[i] = keep * own[i] + take * of_batch[i]; });
  }
};

}  // namespace trainyard

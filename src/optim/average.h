// The exponential moving average of a block: of the weights, and of the running statistics.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "kernels/chunk.h"
#include "ops/step_tensors.h"
#include "tensor/dtype.h"

namespace trainyard {

/// How much of the average a step keeps.
struct AverageRule {
  double decay = 0.999;  // d, in [0, 1)
  bool warmup = false;   // TensorFlow's: min(d, (1 + t) / (10 + t)) after t finished steps
};

/// A block and its average, chunks * kChunk elements each.
struct AverageBlocks {
  DType type = DType::f32;
  void* average = nullptr;
  const void* trained = nullptr;
  const StepState* state = nullptr;
  AverageRule rule;
  bool restart = false;  // average = trained
  std::int64_t chunks = 0;
};

/// average += (1 - d) * (trained - average), as tf.train.ExponentialMovingAverage has it; timm's
/// d * average + (1 - d) * trained is the same but for rounding, and would let the average of a
/// frozen weight drift. t counts the step that ends here. After a non-finite step the average is
/// unchanged. One row is one chunk.
template <class T>
struct AverageChunk {
  T* average;
  const T* trained;
  const StepState* state;
  AverageRule rule;
  bool restart;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t chunk) const {
    const double steps = static_cast<double>(state->step + 1);
    const double most = (1 + steps) / (10 + steps);
    const double decay = rule.warmup && most < rule.decay ? most : rule.decay;
    const T take = static_cast<T>(1 - decay);
    const bool keep = state->nonfinite_step >= 0;
    const bool fresh = restart;
    T* const a = average + chunk * kChunk;
    const T* const w = trained + chunk * kChunk;
    team.each(kChunk, [=](std::int64_t i) {
      const T next = a[i] + take * (w[i] - a[i]);
      a[i] = fresh ? w[i] : keep ? a[i] : next;
    });
  }
};

}  // namespace trainyard

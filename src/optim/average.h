// A second copy of a block, of the weights and of the running statistics: their exponential moving
// average, or the slow one of Lookahead.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "launcher/siblings.h"
#include "ops/step_tensors.h"
#include "optim/step_functors.h"
#include "tensor/dtype.h"
#include "tensor/launch_limits.h"

namespace trainyard {

/// How much of the average a step keeps, and which steps change it.
struct AveragePolicy {
  double decay = 0.999;    // d, in [0, 1)
  std::int64_t every = 1;  // steps n, 2 n, ... (torchvision's --model-ema-steps)
  bool warmup = false;     // TensorFlow's: min(d, (1 + t) / (10 + t)) after t finished steps
};

/// A block and its average, chunks * kChunk elements each.
struct AveragedBlock {
  void* average = nullptr;
  void* trained = nullptr;  // changed by Lookahead alone
  std::int64_t chunks = 0;
};

struct AverageBlocks {
  DType type = DType::f32;
  AveragedBlock weights, running;
  const StepState* state = nullptr;
  AveragePolicy rule;
  bool restart = false;               // average = trained
  const RateWindow* pulls = nullptr;  // of Lookahead; null: the rule's average
};

/// average += (1 - d) * (trained - average), as tf.train.ExponentialMovingAverage has it; timm's
/// d * average + (1 - d) * trained is the same but for rounding, and would let the average of a
/// frozen weight drift. t counts the step that ends here. With pulls the step's is in the place of
/// 1 - d, and trained = average follows. A withheld step, or one without a pull or between two
/// updates, leaves both unchanged. A row is kRow chunks, or the rest of them.
template <class T>
struct AverageChunks {
  static constexpr std::int64_t kRow = 16;
  T* average;
  T* trained;
  std::int64_t chunks;
  const StepState* state;
  AveragePolicy rule;
  bool restart;
  const RateWindow* pulls;

  [[nodiscard]] std::int64_t rows() const { return (chunks + kRow - 1) / kRow; }
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t step = state->step + 1;
    const double steps = static_cast<double>(step);
    const double most = (1 + steps) / (10 + steps);
    const double decay = rule.warmup && most < rule.decay ? most : rule.decay;
    const double part = pulls == nullptr ? 1 - decay : pulls->pulls[state->tried - pulls->first];
    const bool fresh = restart, returns = pulls != nullptr;
    const bool between = pulls == nullptr && step % rule.every != 0;
    if (!fresh && (state->nonfinite_step >= 0 || part < 0 || between)) return;
    const T take = static_cast<T>(part);
    const std::int64_t first = row * kRow, left = chunks - first;
    T* const a = average + first * kChunk;
    T* const w = trained + first * kChunk;
    team.each((left < kRow ? left : kRow) * kChunk, [=](std::int64_t i) {
      const T next = fresh ? w[i] : a[i] + take * (w[i] - a[i]);
      a[i] = next;
      if (returns) w[i] = next;
    });
  }
};

/// Both averages in one launch.
template <class T, class Launcher>
void average(const Launcher& launcher, const AverageBlocks& blocks) {
  const auto chunks_of = [&](const AveragedBlock& block) {
    return AverageChunks<T>{static_cast<T*>(block.average),
                            static_cast<T*>(block.trained),
                            block.chunks,
                            blocks.state,
                            blocks.rule,
                            blocks.restart,
                            blocks.pulls};
  };
  const AverageChunks<T> weights = chunks_of(blocks.weights), running = chunks_of(blocks.running);
  launcher.rows(weights.rows() + running.rows(),
                InTurn<AverageChunks<T>, AverageChunks<T>>{weights, weights.rows(), running});
}

}  // namespace trainyard

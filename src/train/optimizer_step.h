// The optimizer step: from summed gradients to new weights and running statistics.
#pragma once

#include <cstdint>

#include "device/device_array.h"
#include "model/model.h"
#include "optim/optimizer.h"

namespace trainyard {

struct OptimizerStepOptions {
  double clip_norm = 0;  // of the gradients' L2 norm; 0: no clipping
  LossScale loss_scale;
  double replicas = 1;  // batches whose statistics the model's tail of gradients is the sum of
};

/// Where a step leaves its row of results.
struct ResultRows {
  double* rows = nullptr;  // [capacity][width] on the device, written in turn
  std::int64_t width = 0;
  std::int64_t capacity = 0;
};

/// Unscales, adds L2 terms, takes the norm, clips, applies the optimizer's rule and updates running
/// statistics. A loss or gradient that is not finite, on whichever rank, withholds the step.
class OptimizerStep {
 public:
  /// Model, optimizer and rows outlive it.
  OptimizerStep(Model& model, const Optimizer& optimizer, const OptimizerStepOptions& options,
                const ResultRows& results);

  /// Enqueues the step; the same work each time.
  void apply();
  /// Whether gradients are computed of a loss that is scaled.
  [[nodiscard]] bool scales_loss() const {
    return options_.loss_scale.start != 1 || options_.loss_scale.dynamic;
  }
  /// True if a step whose gradients overflow is skipped, and the loss scale halved.
  [[nodiscard]] bool skips_overflow() const { return options_.loss_scale.dynamic; }
  [[nodiscard]] bool has_regularisation() const { return has_l2_; }
  /// Waits for the sum of l2 * w^2 over all weights that have such a term.
  [[nodiscard]] double regularisation_loss();

 private:
  Model& model_;
  const Optimizer& optimizer_;
  OptimizerStepOptions options_;
  ResultRows results_;
  bool has_l2_;
  DeviceArray<Segment> segments_;
  DeviceArray<std::int32_t> segment_of_chunk_;
  DeviceArray<StatisticRule> statistic_rules_;  // by chunk
  DeviceArray<double> scratch_;                 // of the norm's and the regulariser's sums
  DeviceArray<double> regularisation_;          // one element
  UpdateBlocks blocks_;
  StatisticBlocks statistics_;
};

}  // namespace trainyard

// What follows the backward pass: statistics, regularisation, clipping and the optimizer.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "ops/running_statistics.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "run/model.h"

namespace trainyard {

struct UpdateOptions {
  double clip_norm = 0;         // 0: no clipping
  std::int64_t accumulate = 1;  // micro-steps an update
};

/// What an update measured.
struct UpdateResult {
  double rate = 0;           // learning rate used
  double gradient_norm = 0;  // before clipping, L2 terms included
  bool finite = true;        // false: the update was withheld
};

/// One update of a model's weights from the gradients of its micro-steps.
class Updater {
 public:
  /// All references must outlive the updater.
  Updater(Model& model, Communicator& communicator, const Optimizer& optimizer,
          const Schedule* schedule, const ScheduleContext& context, const UpdateOptions& options);

  /// Sets the state that this update's kernels read: rate and gradient scale, from its step count.
  void begin();
  /// Adds the gradients of micro-step `index` to the sum.
  void accumulate(std::int64_t index);
  /// Sums over ranks and updates statistics, weights and the step count.
  [[nodiscard]] UpdateResult apply();
  /// Sum of l2 * w^2 over all weights that have such a term.
  [[nodiscard]] double regularisation_loss();
  [[nodiscard]] bool has_regularisation() const { return has_l2_; }

 private:
  void make_segments(const Optimizer& optimizer);
  void make_statistic_rules();
  void update_statistics();

  Model& model_;
  Communicator& communicator_;
  const Optimizer& optimizer_;
  const Schedule* schedule_;
  ScheduleContext context_;
  UpdateOptions options_;
  std::vector<Segment> segments_;
  std::vector<std::int32_t> segment_of_chunk_;
  std::vector<StatisticRule> statistic_rules_;  // by chunk
  UpdateBlocks blocks_;
  std::vector<double> scratch_;  // of the norm's and the regulariser's sums
  bool has_l2_ = false;
};

}  // namespace trainyard

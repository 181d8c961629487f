// What follows the backward pass: statistics, regularisation, clipping and the optimizer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "device/device_array.h"
#include "model/model.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "train/rank_sum.h"
#include "train/shard_sum.h"

namespace trainyard {

struct UpdateOptions {
  double clip_norm = 0;         // 0: no clipping
  std::int64_t accumulate = 1;  // micro-steps an update
  // Equal parts of a micro-step's global batch, a power of two that the number of ranks divides,
  // whose sums are taken in one order on any number of ranks; 0: a part a rank, in no such order.
  std::int64_t shards = 0;
  std::int64_t results = 1;  // updates whose results are sent to the host together
  LossScale loss_scale;
  DType transport = DType::f32;  // of gradients between ranks, see RankSumOptions
  BucketBytes buckets;           // where they are summed beside the backward pass
};

/// Where a sequence of updates stands.
struct UpdatePosition {
  std::int64_t tried = 0;     // updates begun
  std::int64_t finished = 0;  // those that were not skipped
  double loss_scale = 1;
  std::int64_t good_steps = 0;  // since the loss scale last changed
};

/// What an update measured.
struct UpdateResult {
  double rate = 0;           // learning rate used
  double gradient_norm = 0;  // before clipping, L2 terms included
  double loss_scale = 1;
  bool finite = true;    // false: this update and all later ones were withheld
  bool skipped = false;  // this one alone, for a loss scale that was too large
  Totals totals;         // of its batches, on all ranks
};

/// Updates of a model's weights from the gradients of the passes, forward and backward, over the
/// batches that this rank has of a global batch: one a micro-step, or one for each of its shards.
/// An update is prepare(), begin(), then accumulate(), sum_over_ranks() and end_pass() for each
/// pass, and finish(). Those in the middle put the same work on the model's queue each time, so
/// that it may be recorded; the other two are the host's part. Every rank makes the same updates,
/// and has the same results.
class Updater {
 public:
  /// All references must outlive the updater. The model's shards (ModelOptions) are those of the
  /// options by the number of ranks.
  Updater(Model& model, Communicator& communicator, const Optimizer& optimizer,
          const Schedule* schedule, const ScheduleContext& context, const UpdateOptions& options);

  /// Goes on from there.
  void start_at(const UpdatePosition& position);
  /// Waits for the updates so far.
  [[nodiscard]] UpdatePosition position() const;
  [[nodiscard]] bool scales_loss() const {
    return options_.loss_scale.start != 1 || options_.loss_scale.dynamic;
  }
  /// True if an update whose gradients overflow is skipped, and the loss scale halved.
  [[nodiscard]] bool skips_overflow() const { return options_.loss_scale.dynamic; }
  /// Passes an update on this rank, those of a micro-step's shards one after another.
  [[nodiscard]] std::int64_t passes() const { return options_.accumulate * shards_; }
  /// Samples of an update, on all ranks.
  [[nodiscard]] std::int64_t samples() const {
    return model_.memory().batch() * passes() * communicator_.size();
  }
  /// Sees to it that the device has the update's learning rate.
  void prepare();
  /// Sets the state that the update's kernels read.
  void begin();
  /// Buckets of gradients that sum_next_bucket() sums while the pass goes on; see RankSum.
  [[nodiscard]] std::span<const GradientBucket> overlapped() const {
    return rank_sum_.overlapped();
  }
  void sum_next_bucket() { rank_sum_.begin_next(); }
  /// False if sum_over_ranks() may not be part of recorded work.
  [[nodiscard]] bool sums_recordable() const {
    return communicator_.size() == 1 || communicator_.recordable();
  }
  /// Adds the gradients of pass `index` to the sums, and with shards its results.
  void accumulate(std::int64_t index);
  /// Sums over ranks, if pass `index` completes what is summed at once: a micro-step with shards,
  /// else the update.
  void sum_over_ranks(std::int64_t index);
  /// Makes room for the next pass; after the last one updates statistics, weights and the step
  /// count.
  void end_pass(std::int64_t index);
  /// The latter alone, of gradients that are summed. A loss or gradient that is not finite, on
  /// whichever rank, withholds the update on all.
  void apply();
  /// Counts the update, whose samples the model has loaded.
  void finish();
  /// True if results must be taken before the next update: by take_oldest(), or all.
  [[nodiscard]] bool full() const;
  /// Updates whose results were not taken yet.
  [[nodiscard]] std::int64_t pending() const {
    return static_cast<std::int64_t>(pending_samples_.size());
  }
  /// Waits for the pending updates; the oldest first. Valid until the next call, and in memory that
  /// is kept, since this belongs to a step.
  [[nodiscard]] std::span<const UpdateResult> take_results();
  /// When full(): the results that were sent `results` updates ago, so that the device goes on with
  /// the updates since. With `results: 1` those of the last update.
  [[nodiscard]] std::span<const UpdateResult> take_oldest();
  /// Waits for the sum of l2 * w^2 over all weights that have such a term.
  [[nodiscard]] double regularisation_loss();
  [[nodiscard]] bool has_regularisation() const { return has_l2_; }

 private:
  /// Half of the rows, on their way to the host.
  struct Window {
    std::unique_ptr<DeviceBuffer> rows;  // [options.results][width]
    std::unique_ptr<Event> sent;
  };

  [[nodiscard]] bool ends_micro_step(std::int64_t index) const {
    return index % shards_ == shards_ - 1;
  }
  void add_micro_step(std::int64_t index);
  [[nodiscard]] RankBlocks rank_blocks() const;
  [[nodiscard]] std::vector<GradientBucket> overlapped_buckets() const;
  /// Loss and metrics, summed over the batches since they were cleared: results_count() doubles.
  [[nodiscard]] double* batch_results() const {
    return model_.memory().results() + ResultRow::loss;
  }
  [[nodiscard]] std::int64_t results_count() const {
    return model_.programs().sizes.results - ResultRow::loss;
  }
  void write_rates();
  void send_window();
  [[nodiscard]] std::int64_t windows() const { return options_.results > 1 ? 2 : 1; }
  [[nodiscard]] std::size_t row_of(std::int64_t update) const;
  /// The `count` oldest updates from `rows`, which begin at row `first_row` of the device's.
  [[nodiscard]] std::span<const UpdateResult> take(std::int64_t count, std::span<const double> rows,
                                                   std::size_t first_row);

  Model& model_;
  Communicator& communicator_;
  const Optimizer& optimizer_;
  const Schedule* schedule_;
  ScheduleContext context_;
  UpdateOptions options_;
  std::int64_t shards_;  // of a micro-step on this rank
  bool has_l2_ = false;
  std::int64_t tried_ = 0;                     // as StepState counts
  std::int64_t rates_end_ = 0;                 // the first update that the window has no rate for
  std::vector<std::int64_t> pending_samples_;  // an update
  std::vector<double> taken_rows_;             // as rows_
  std::vector<UpdateResult> taken_;

  DeviceArray<Segment> segments_;
  DeviceArray<std::int32_t> segment_of_chunk_;
  DeviceArray<StatisticRule> statistic_rules_;  // by chunk
  DeviceArray<double> scratch_;                 // of the norm's and the regulariser's sums
  DeviceArray<double> regularisation_;          // of one element
  DeviceArray<RateWindow> rates_;               // of one element
  DeviceArray<double> rows_;         // [windows() * options.results][width], see ResultRow
  DeviceArray<double> result_sums_;  // [1 + log2(shards_)][results_count()]: micro-steps, shards
  double* result_sum_ = nullptr;     // over shards and micro-steps; may be batch_results()
  ShardSum gradient_shards_;
  ShardSum result_shards_;
  RankSum rank_sum_;
  std::array<Window, 2> windows_;
  UpdateBlocks blocks_;
  StatisticBlocks statistics_;
};

}  // namespace trainyard

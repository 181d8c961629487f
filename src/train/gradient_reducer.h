// Reduces the gradients of single passes to those of a step: sums over shards, ranks and
// micro-batches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/device.h"
#include "model/model.h"
#include "ranks/comm/communicator.h"
#include "train/rank_sum.h"

namespace trainyard {

struct ReducerOptions {
  std::int64_t accumulate = 1;  // micro-batches per step
  // Equal parts of a micro-batch over all ranks, a power of two that the number of ranks divides,
  // summed in one order on any number of ranks; 0: one part per rank, in the communicator's order.
  std::int64_t shards = 0;
  DType transport = DType::f32;  // gradient dtype between ranks, see RankSumOptions
  // Buckets of gradients whose all-reduce overlaps the backward pass; default: bucket_bytes().
  std::optional<BucketBytes> buckets = {};
};

/// Reduces gradients, batch statistics and the sums of loss and metrics (results). A step has
/// passes() passes on this rank, forward and backward; each is followed by reduce(), which enqueues
/// the same work in every step, so that it can be recorded. After the last one the model's
/// gradient_sum() and results() hold the step's sums, equal on all ranks.
class GradientReducer {
 public:
  /// Model and communicator must outlive it. The model's shards (ModelOptions) are those of the
  /// options divided by the number of ranks.
  GradientReducer(Model& model, Communicator& communicator, const ReducerOptions& options);

  /// Also sums `part` over the ranks with the results from now on, once per reduce() that completes
  /// a unit of reduction; see RankSum.
  void sum_with_results(const SumPart& part) { rank_sum_.sum_with_results(part); }
  /// Passes per step on this rank: micro-batches times the shards of each.
  [[nodiscard]] std::int64_t passes() const { return options_.accumulate * shards_; }
  /// Samples of a step, on all ranks.
  [[nodiscard]] std::int64_t samples() const {
    return model_.memory().batch() * passes() * communicator_.size();
  }
  /// False if reduce() may not be part of recorded work.
  [[nodiscard]] bool recordable() const {
    return communicator_.size() == 1 || communicator_.recordable();
  }
  /// Buckets that reduce_next_bucket() takes during the backward pass; see RankSum.
  [[nodiscard]] std::span<const GradientBucket> overlapped() const {
    return rank_sum_.overlapped();
  }
  /// What the sums are of, on the device.
  [[nodiscard]] const MicroBatches* of_step() const { return of_step_.data(); }
  void reduce_next_bucket() { rank_sum_.begin_next(); }
  /// Adds gradients and results of pass `pass` to the sums, except those of a micro-batch of which
  /// no sample counts on any rank, and all-reduces if the pass completes a unit of reduction: with
  /// shards a micro-batch, else the step. The next pass begins with results of 0.
  void reduce(std::int64_t pass);

 private:
  void count_over_ranks();
  void add_micro_batch(std::int64_t index);
  /// After the last pass the step's results are in the model's memory.
  void move_results(bool last);
  [[nodiscard]] RankBlocks rank_blocks() const;
  [[nodiscard]] std::vector<GradientBucket> overlapped_buckets() const;
  /// Loss and metrics, summed over the batches since they were cleared: result_count() doubles.
  [[nodiscard]] double* batch_results() const;
  [[nodiscard]] std::int64_t result_count() const;
  /// The number of the step's samples so far that count, over what is known of the ranks.
  [[nodiscard]] double* counted() const;
  [[nodiscard]] std::size_t result_bytes() const;

  Model& model_;
  Communicator& communicator_;
  ReducerOptions options_;
  std::int64_t shards_;  // shards of a micro-batch on this rank
  // The result that counts samples, if one micro-batch of several may have none that counts.
  std::optional<std::int64_t> counted_at_;
  DeviceArray<MicroBatches> of_step_;  // one element; what a step without such micro-batches has
  DeviceArray<double> counted_;      // its sum over ranks; empty: a rank's own micro-batch decides
  DeviceArray<double> result_sums_;  // [1 + log2(shards_)][result_count()]: micro-batches, shards
  double* result_sum_ = nullptr;     // over shards and micro-batches; may be batch_results()
  UpdateBlocks gradient_sum_;        // over shards and micro-batches
  ShardSum gradient_shards_;
  ShardSum result_shards_;
  RankSum rank_sum_;
};

}  // namespace trainyard

// The all-reduce between the backward passes and the optimizer step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/compute.h"
#include "plan/gradient_buckets.h"
#include "ranks/comm/communicator.h"

namespace trainyard {

/// Device memory that a step all-reduces, the same in every step.
struct RankBlocks {
  DType type = DType::f32;      // of the gradients, f32 or f64
  void* gradients = nullptr;    // [parameters + statistics]
  std::int64_t parameters = 0;  // number of their gradients
  std::int64_t statistics = 0;  // number of batch statistics after them
  double* results = nullptr;    // [result_count]: loss and metrics
  std::int64_t result_count = 0;
};

struct RankSumOptions {
  /// The dtype in which gradients are sent: f16 and bf16 round f32 gradients, both a rank's own and
  /// the sum; f32 leaves them unchanged.
  DType transport = DType::f32;
  /// Summed one by one on Compute::sums, see begin_next(). Empty: all at once, on the model's
  /// queue.
  std::vector<GradientBucket> buckets = {};
  /// Sum in the order of a binary tree over rank numbers (ranks/comm/tree_sum.h), which continues
  /// the tree over shards, whatever the communicator's own order. Excludes the two options above.
  bool in_tree = false;
};

/// All-reduces gradients, batch statistics and results; they are bit-identical on all ranks.
class RankSum {
 public:
  /// Communicator and blocks must outlive it. A single rank sums and rounds nothing. Throws
  /// Error{memory}.
  RankSum(const Compute& compute, Communicator& communicator, const RankBlocks& blocks,
          const RankSumOptions& options);

  /// Also sums `part`, of f32 or f64, with the results from now on: in the same call, which costs
  /// no more than the results alone. Device memory, the same in every step, no larger than the
  /// other blocks. No elements: nothing. Call it before the first step.
  void sum_with_results(const SumPart& part);

  /// The buckets whose all-reduce overlaps the backward pass: all but the last, which finish() sums
  /// with the results. Empty: finish() sums everything.
  [[nodiscard]] std::span<const GradientBucket> overlapped() const;
  /// Enqueues the sum of the next of them; the model's queue must already compute its gradients.
  void begin_next();
  /// Enqueues the remaining sums, and makes the model's queue wait for all of them.
  void finish();

 private:
  [[nodiscard]] bool downcasts() const { return downcast_ != nullptr; }
  [[nodiscard]] std::byte* downcast_at(std::int64_t element) const;
  [[nodiscard]] std::size_t tree_bytes(std::int64_t count, DType type) const;
  void add(const GradientBucket& bucket);
  void enqueue();
  void sum_in_tree(std::byte* data, std::int64_t count, DType type);
  void sum_parts(std::int64_t count, DType type);
  void fork();
  void join();

  Compute compute_;
  Communicator& communicator_;
  RankBlocks blocks_;
  DType transport_;
  std::vector<GradientBucket> buckets_;
  std::size_t next_ = 0;
  SumPart with_results_;                    // summed with the results
  std::vector<SumPart> pending_;            // added but not yet enqueued
  Queue& queue_;                            // of the sums
  std::unique_ptr<Event> ready_;            // on the model's queue; null: both are the same queue
  std::unique_ptr<Event> summed_;           // on queue_; null likewise
  std::unique_ptr<DeviceBuffer> downcast_;  // [parameters] of transport_; null: no downcast
  // All ranks' values of a slice, for sums in tree order; null: the communicator has that order, or
  // none is requested.
  std::unique_ptr<DeviceBuffer> parts_;
};

}  // namespace trainyard

// Sums of gradients, batch statistics and results: over the shards that a rank computes one after
// another, and over the ranks between the backward passes and the optimizer step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/compute.h"
#include "optim/update_launches.h"
#include "plan/blocks.h"
#include "ranks/comm/communicator.h"

namespace trainyard {

/// Device memory that a step all-reduces, the same in every step.
struct RankBlocks {
  DType type = DType::f32;      // type of the gradients, f32 or f64
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
  Queue& queue_;                            // queue of the sums
  std::unique_ptr<Event> ready_;            // on the model's queue; null: both are the same queue
  std::unique_ptr<Event> summed_;           // on queue_; null likewise
  std::unique_ptr<DeviceBuffer> downcast_;  // [parameters] of transport_; null: no downcast
  // All ranks' values of a slice, for sums in tree order; null: the communicator has that order, or
  // none is requested.
  std::unique_ptr<DeviceBuffer> parts_;
};

/// Device memory.
struct ShardBlocks {
  DType type = DType::f32;  // f32 or f64
  std::int64_t elements = 0;
  void* values = nullptr;     // [elements], of the last computed shard
  std::byte* sums = nullptr;  // log2(shards) arrays of [elements]
  std::size_t stride = 0;     // bytes from one of `sums` to the next
};

/// Sums shard after shard in the order of a binary tree, ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)),
/// which the all-reduce continues (ranks/comm/tree_sum.h): with equal numbers of shards per rank,
/// the result is bit-identical for any number of ranks.
class ShardSum {
 public:
  /// `shards` is a power of two. `launches` must outlive it.
  ShardSum(const UpdateLaunches& launches, const ShardBlocks& blocks, std::int64_t shards);

  /// Enqueues adding the values of shard `position`, called for 0 to shards - 1 in turn. They may
  /// be overwritten afterwards, unless there is only one shard.
  void add(std::int64_t position) const;
  /// [elements], after the last shard.
  [[nodiscard]] void* total() const { return shards_ > 1 ? blocks_.sums : blocks_.values; }

 private:
  /// The sum on the stack at `depth`, counted from 0.
  [[nodiscard]] void* sum(int depth) const {
    return blocks_.sums + static_cast<std::size_t>(depth) * blocks_.stride;
  }
  void accumulate(void* to, const void* from, bool first) const;

  const UpdateLaunches& launches_;
  ShardBlocks blocks_;
  std::int64_t shards_;
};

}  // namespace trainyard

// The sums over ranks that stand between the backward passes and the update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "model/compute.h"
#include "plan/collectives.h"

namespace trainyard {

/// What an update sums over ranks: memory of the device, the same in every update.
struct RankBlocks {
  DType type = DType::f32;      // of the gradients, f32 or f64
  void* gradients = nullptr;    // [parameters + statistics]
  std::int64_t parameters = 0;  // their gradients,
  std::int64_t statistics = 0;  // and the statistics of the batch behind them
  double* results = nullptr;    // [result_count]: loss and metrics
  std::int64_t result_count = 0;
};

struct RankSumOptions {
  /// What gradients cross as: f16 and bf16 round those of f32, a rank's own and the sum; f32 leaves
  /// them as they are.
  DType transport = DType::f32;
  /// Summed one by one on Compute::sums, as begin_next() says. None: all at once, on the model's
  /// queue.
  std::vector<GradientBucket> buckets = {};
  /// In the order of a binary tree over rank numbers (comm/tree_sum.h), which that of shards goes
  /// on with, whatever the communicator's own is. Excludes the two above.
  bool in_tree = false;
};

/// Sums gradients, batch statistics and results over ranks, so that all have the same bits.
class RankSum {
 public:
  /// Communicator and blocks outlive it. One rank sums and rounds nothing. Throws Error{memory}.
  RankSum(const Compute& compute, Communicator& communicator, const RankBlocks& blocks,
          const RankSumOptions& options);

  /// The buckets that are summed beside the backward pass: all but the last, which finish() sums
  /// with the results. None: all is summed by finish().
  [[nodiscard]] std::span<const GradientBucket> overlapped() const;
  /// Puts on the sum of the next of them, whose gradients the model's queue has then.
  void begin_next();
  /// Puts on what is left, and lets the model's queue wait for all.
  void finish();

 private:
  [[nodiscard]] bool downcasts() const { return downcast_ != nullptr; }
  [[nodiscard]] std::byte* downcast_at(std::int64_t element) const;
  [[nodiscard]] std::size_t tree_bytes(std::int64_t count, DType type) const;
  void add(const GradientBucket& bucket);
  void put_on();
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
  std::vector<SumPart> pending_;            // added, and not yet put on
  Queue& queue_;                            // of the sums
  std::unique_ptr<Event> ready_;            // of the model's queue; null: it is the same
  std::unique_ptr<Event> summed_;           // of the other one, likewise
  std::unique_ptr<DeviceBuffer> downcast_;  // [parameters] of the transport; null: as they are
  // All ranks' values of a slice, for sums in tree order; null: the communicator has that order, or
  // none is asked for.
  std::unique_ptr<DeviceBuffer> parts_;
};

}  // namespace trainyard

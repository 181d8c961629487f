// The sum over the shards that a rank computes one after another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "optim/update_launches.h"

namespace trainyard {

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

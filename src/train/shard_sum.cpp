#include "train/shard_sum.h"

#include <bit>

#include "base/error.h"

namespace trainyard {

ShardSum::ShardSum(const UpdateLaunches& launches, const ShardBlocks& blocks, std::int64_t shards)
    : launches_(launches), blocks_(blocks), shards_(shards) {
  TY_CHECK(std::has_single_bit(static_cast<std::uint64_t>(shards)),
           "the number of shards per rank must be a power of two");
}

void ShardSum::accumulate(void* to, const void* from, bool first) const {
  launches_.accumulate({.type = blocks_.type, .gradients = to}, from, blocks_.elements, first);
}

void ShardSum::add(std::int64_t position) const {
  if (shards_ == 1) return;
  // The stack holds one sum per set bit of `position`, over as many shards as the bit's value, the
  // largest at the bottom. As in a binary counter, one more shard carries through the trailing set
  // bits: the two topmost sums then cover equally many shards and are merged.
  auto bits = static_cast<std::uint64_t>(position);
  int depth = std::popcount(bits);
  const bool left = bits % 2 == 0;
  accumulate(sum(left ? depth : depth - 1), blocks_.values, left);
  for (bits /= 2; !left && bits % 2 == 1; bits /= 2, --depth) {
    accumulate(sum(depth - 2), sum(depth - 1), false);
  }
}

}  // namespace trainyard

// Which of a launch's siblings a block is of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "launcher/cuda_error.h"
#include "launcher/siblings.h"

namespace trainyard {

/// The blocks of each sibling follow those of the one before it.
class SiblingBlocks {
 public:
  SiblingBlocks() { std::fill_n(first_, kMostSiblings, std::numeric_limits<unsigned>::max()); }
  /// The next sibling's.
  void add(std::int64_t blocks) {
    first_[count_++] = static_cast<unsigned>(all_);
    all_ += blocks;
  }
  [[nodiscard]] unsigned all() const { return grid_of(all_); }

  /// The sibling of this block, and the block's number in a launch of its own.
  [[nodiscard]] __device__ unsigned sibling() const {
    unsigned own = 0;
#pragma unroll
    for (int i = 1; i < kMostSiblings; ++i) own += blockIdx.x >= first_[i] ? 1 : 0;
    return own;
  }
  [[nodiscard]] __device__ unsigned block(unsigned sibling) const {
    return blockIdx.x - first_[sibling];
  }

 private:
  unsigned first_[kMostSiblings];  // absent siblings are behind all
  int count_ = 0;
  std::int64_t all_ = 0;
};

}  // namespace trainyard

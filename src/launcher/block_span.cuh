// The block of a launch: of which of its siblings it is, and what it notes if the launch has a
// span.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "launcher/cuda_error.h"
#include "launcher/node_spans.h"
#include "launcher/predecessors.cuh"
#include "launcher/siblings.h"

namespace trainyard {

/// From its construction to its end, by all threads of the block. Nothing for other functors.
template <class F>
struct BlockSpan {
  __device__ explicit BlockSpan(const F& /*f*/) {}
};

template <class F>
class BlockSpan<Timed<F>> {
 public:
  __device__ explicit BlockSpan(const Timed<F>& f) : span_(f.span) {
    if (span_ != nullptr && threadIdx.x == 0) atomicMin(&span_->begin, global_nanoseconds());
  }
  __device__ ~BlockSpan() {
    if (span_ == nullptr) return;
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&span_->end, global_nanoseconds());
  }
  BlockSpan(const BlockSpan&) = delete;
  BlockSpan& operator=(const BlockSpan&) = delete;

 private:
  NodeSpan* span_;
};

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

// What a block of a launch that has a span notes in it.
#pragma once

#include <cuda_runtime.h>

#include "launcher/global_timer.cuh"
#include "launcher/node_spans.h"

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

}  // namespace trainyard

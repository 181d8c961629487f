// The kernel of an elementwise pass that finishes the sums of columns() before it (SettledCall): a
// block has rows of the columns of one of its groups. Each block adds up the same few sums, which
// takes less time than to wait for the one that would (docs/results/log/gpu.md, M3).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "launcher/block_span.cuh"
#include "launcher/columns.h"
#include "launcher/cuda_columns.cuh"
#include "launcher/predecessors.cuh"
#include "launcher/sibling_blocks.cuh"
#include "launcher/siblings.h"

namespace trainyard {

/// The constants of the block's group of columns, into `factors`; the first block of a group also
/// finishes its columns.
template <class Settle, class F>
__device__ void settle_group(const SettledCall<Settle, F>& call, unsigned group, bool finishes,
                             const typename Settle::Factors& factors) {
  using ColumnSum = typename Settle::Sum;
  alignas(16) __shared__ std::byte memory[sizeof(ColumnSum) * kColumnThreads];
  auto* const sums = reinterpret_cast<ColumnSum*>(memory);
  const ColumnSum total = total_of_chunks(call.grid, group, call.partials, sums);
  const std::int64_t column = group * call.grid.group_columns() + threadIdx.x;
  if (threadIdx.x < call.grid.group_columns() && column < call.grid.columns) {
    factors.set(threadIdx.x, call.settle.constants(column, total));
    if (finishes) call.settle.finish(column, total);
  }
  __syncthreads();
}

template <class Settle, class F>
__device__ void do_settled(const SettledCall<Settle, F>& call, unsigned block) {
  using Factors = typename Settle::Factors;
  alignas(16) __shared__ typename F::A constants[Factors::elements(kColumnsOfBlock)];
  const Factors factors = Factors::at(constants, kColumnsOfBlock);
  const ColumnGrid& grid = call.grid;
  const auto groups = static_cast<unsigned>(grid.groups), wide = static_cast<unsigned>(grid.wide);
  const unsigned below = block / groups, group = block % groups;
  const std::int64_t within = threadIdx.x % wide * grid.together;
  const std::int64_t column = group * grid.group_columns() + within;
  const std::int64_t first = below * grid.tall + threadIdx.x / wide;
  const std::int64_t step = call.rows.calls().below();
  const bool works = column < grid.columns && first < step;
  typename F::Values values;
  if (works) values = call.rows.load({column, first, step});  // under way while sums are added
  settle_group(call, group, below == 0, factors);
  if (works) call.rows.store({column, first, step}, values, factors, within);
}

template <class Call>
__global__ void __launch_bounds__(kColumnThreads, 2)
    settled_kernel(const __grid_constant__ Call call) {
  wait_for_predecessors();
  const BlockSpan<Call> span(call);
  do_settled(call, blockIdx.x);
}

/// The same of several calls.
template <class Calls>
__global__ void __launch_bounds__(kColumnThreads, 2)
    sibling_settled_kernel(const __grid_constant__ Calls calls,
                           const __grid_constant__ SiblingBlocks blocks) {
  wait_for_predecessors();
  const BlockSpan<Calls> span(calls);
  const unsigned own = blocks.sibling();
  do_settled(calls[own], blocks.block(own));
}

}  // namespace trainyard

// The kernels of columns(): sums over rows for each column, in the order of columns.h.
//
// The time of a launch over a map of a few MB is that of what waits for something else: loads for
// loads, threads for barriers. So all loads of a strip are in flight at once, a warp adds up its
// lanes in registers, and warps and chunks are added eight at a time.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "launcher/block_span.cuh"
#include "launcher/columns.h"
#include "launcher/pairwise.h"
#include "launcher/predecessors.cuh"
#include "launcher/siblings.h"

namespace trainyard {

// Which block of a launch is the last: it may read what all of them wrote.

/// True in the last of `blocks` blocks to arrive, which then sees what all of them wrote.
/// `finished` counts them and is 0 again afterwards.
__device__ inline bool is_last_block(std::uint32_t* finished, unsigned blocks) {
  __shared__ bool last;
  __threadfence();  // what this thread wrote is visible before its block counts
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(finished, blocks - 1) == blocks - 1;
  __syncthreads();
  __threadfence();
  return last;
}

inline constexpr unsigned kWarpThreads = 32;

/// The value of the thread of the warp whose number differs in the bit `step`.
template <class T>
__device__ T exchanged(const T& own, unsigned step) {
  std::uint32_t words[(sizeof(T) + 3) / 4] = {};
  std::memcpy(words, &own, sizeof(T));
#pragma unroll
  for (std::uint32_t& word : words) word = __shfl_xor_sync(0xffffffffu, word, step);
  T other;
  std::memcpy(&other, words, sizeof(T));
  return other;
}

/// Adds the sums of a warp's threads that are `step`, twice that ... apart pairwise, less than
/// `end`; these and K are powers of two, and there are levels enough for K columns. While a thread
/// has several it gives half of them for the other half of its neighbour's, so that each level
/// exchanges half of what the one before did. Returns the thread's last column, whose number is
/// added to `column`.
template <unsigned K, class Sum>
__device__ Sum fold_warp(const Sum (&sums)[K], unsigned step, unsigned end, unsigned& column) {
  if constexpr (K == 1) {
    Sum sum = sums[0];
    for (; step < end; step *= 2) sum += exchanged(sum, step);
    return sum;
  } else {
    const bool upper = (threadIdx.x & step) != 0;
    Sum half[K / 2];
#pragma unroll
    for (unsigned k = 0; k < K / 2; ++k) {
      Sum kept = sums[k], given = sums[k + K / 2];
      if (upper) {  // assignments are of registers, which a choice of addresses would not be
        kept = sums[k + K / 2];
        given = sums[k];
      }
      half[k] = kept;
      half[k] += exchanged(given, step);
    }
    if (upper) column += K / 2;
    return fold_warp(half, step * 2, end, column);
  }
}

/// Rows of sums that a thread adds at a time.
inline constexpr unsigned kFoldRows = 8;

/// Adds `count` sums that are `stride` apart pairwise, into the first. A power of two.
template <class Sum>
__device__ void add_pairwise(Sum* first, unsigned count, unsigned stride) {
  Sum sums[kFoldRows];
#pragma unroll
  for (unsigned i = 0; i < kFoldRows; ++i) sums[i] = i < count ? first[i * stride] : Sum{};
  first[0] = pairwise<kFoldRows>([&](unsigned i) { return sums[i]; });
}

/// Adds `rows` rows of `width` sums, in memory that the block's threads share, pairwise into the
/// first row; thread i may then read column i. Both are powers of two.
template <class Sum>
__device__ void fold_rows(Sum* sums, unsigned rows, unsigned width) {
  for (unsigned apart = 1; apart < rows; apart *= kFoldRows) {
    __syncthreads();
    const unsigned row = threadIdx.x / width * kFoldRows * apart;
    const unsigned left = rows / apart, count = left < kFoldRows ? left : kFoldRows;
    if (row < rows) add_pairwise(sums + row * width + threadIdx.x % width, count, apart * width);
  }
}

/// The sum of up to kFoldRows chunks of a column from `first` on, whose loads are in flight
/// together: additions depend on each other and loads do not.
template <class Sum>
__device__ Sum add_few_chunks(const ColumnGrid& grid, const Sum* partials, std::int64_t column,
                              std::int64_t first, std::int64_t end) {
  Sum staged[kFoldRows];
#pragma unroll
  for (unsigned i = 0; i < kFoldRows; ++i) {
    staged[i] = first + i < end ? partials[(first + i) * grid.columns + column] : Sum{};
  }
  return pairwise<kFoldRows>([&](unsigned i) { return staged[i]; });
}

/// A lane's sum of a column's chunks: in most launches there are few.
template <class Sum>
__device__ Sum add_chunks(const ColumnGrid& grid, const Sum* partials, std::int64_t column,
                          std::int64_t lane) {
  const std::int64_t count = grid.chunks_of_lane(), first = lane * count;
  const std::int64_t end = first + count < grid.chunks ? first + count : grid.chunks;
  if (count <= kFoldRows) return add_few_chunks(grid, partials, column, first, end);
  PairwiseSums<Sum, 1, kColumnPartials> sums;
  for (std::int64_t chunk = first; chunk < first + count; chunk += kFoldRows) {
    *sums.open() += add_few_chunks(grid, partials, column, chunk, end);
    sums.close();
  }
  return *sums.total();
}

/// The sum of thread i's column i of a group, from those of its chunks. `sums` is memory that the
/// block's threads share, which they have read.
template <class Sum>
__device__ Sum total_of_chunks(const ColumnGrid& grid, unsigned group, const Sum* partials,
                               Sum* sums) {
  const auto group_columns = static_cast<unsigned>(grid.group_columns());
  const auto lanes = static_cast<unsigned>(grid.lanes()), lane = threadIdx.x / group_columns;
  const std::int64_t column = std::int64_t{group} * group_columns + threadIdx.x % group_columns;
  sums[threadIdx.x] = column < grid.columns ? add_chunks(grid, partials, column, lane) : Sum{};
  fold_rows(sums, lanes, group_columns);
  return threadIdx.x < group_columns ? sums[threadIdx.x] : Sum{};
}

/// The sum of a warp's strips, of which each thread has one of K columns.
template <class F, unsigned K>
__device__ typename F::Sum fold_strips(const F& /*f*/, const typename F::Sum (&strips)[K],
                                       unsigned wide, std::int64_t /*rows*/, unsigned& column) {
  return fold_warp(strips, wide, kWarpThreads, column);
}
/// Sum over parts of groups; the thread's part has `rows` rows.
template <class F, unsigned K>
requires(has_parts<F>()) __device__ typename F::Sum
    fold_strips(const F& f, const typename F::Part (&strips)[K], unsigned wide, std::int64_t rows,
                unsigned& column) {
  constexpr unsigned kStrips = kGroupStrips;
  const typename F::Part part = fold_warp(strips, wide, wide * kStrips, column);
  typename F::Sum groups[1] = {};
  groups[0] += f.widened(part, rows);
  return fold_warp(groups, wide * kStrips, kWarpThreads, column);
}

/// The sums of a turn of the block, into the first of `sums`: one each of the group's columns.
template <class F>
__device__ void sum_turn(const F& f, const ColumnGrid& grid, std::int64_t begin, unsigned group,
                         typename F::Sum* sums) {
  constexpr unsigned kTogether = columns_together<F>();
  constexpr unsigned kWarps = kColumnThreads / kWarpThreads;
  static_assert(kWarps * kColumnsOfBlock <= kColumnThreads);
  const auto wide = static_cast<unsigned>(grid.wide), group_columns = wide * kTogether;
  unsigned within = threadIdx.x % wide * kTogether;  // the group's columns
  const std::int64_t column = std::int64_t{group} * group_columns + within;
  // A strip behind the last row has its part in the group, if that has rows.
  const std::int64_t first = has_parts<F>() ? begin - begin % kGroupRows : begin;
  AddedOf<F> strip[kTogether] = {};
  if (first < grid.rows && column < grid.columns) {
    add_strip(f, begin, grid.end(begin, grid.strip), column, kTogether, strip);
  }
  const std::int64_t rows = grid.end(first, kGroupRows) - first;
  const typename F::Sum warp = fold_strips(f, strip, wide, rows < 0 ? 0 : rows, within);
  const unsigned lane = threadIdx.x % kWarpThreads / wide;
  if (lane < kTogether) sums[threadIdx.x / kWarpThreads * group_columns + within] = warp;
  fold_rows(sums, kWarps, group_columns);
}

/// The sum of thread i's column i of a group over a chunk; `sums` as in total_of_chunks().
template <class F>
__device__ typename F::Sum total_of_turns(const F& f, const ColumnGrid& grid, unsigned chunk,
                                          unsigned group, typename F::Sum* sums) {
  const unsigned lane = threadIdx.x / static_cast<unsigned>(grid.wide);
  PairwiseSums<typename F::Sum, 1, kChunkStrips> turns;
  for (std::int64_t turn = 0; turn < grid.turns; ++turn) {
    if (turn > 0) __syncthreads();  // the sums of the turn before are read
    sum_turn(f, grid, grid.begin(chunk, lane, turn), group, sums);
    typename F::Sum* const own = turns.open();
    if (threadIdx.x < grid.group_columns()) *own += sums[threadIdx.x];
    turns.close();
  }
  return *turns.total();
}

/// The sums of a chunk of rows of a group of columns. Unless they are left, the last of a group to
/// arrive finishes it.
template <class F>
__device__ void do_columns(const F& f, const ColumnGrid& grid, typename F::Sum* partials,
                           std::uint32_t* finished, unsigned block) {
  using ColumnSum = typename F::Sum;
  alignas(16) __shared__ std::byte memory[sizeof(ColumnSum) * kColumnThreads];
  auto* const sums = reinterpret_cast<ColumnSum*>(memory);
  const auto groups = static_cast<unsigned>(grid.groups);  // divided by in 32 bits: faster
  const unsigned chunk = block / groups, group = block % groups;
  const ColumnSum total = total_of_turns(f, grid, chunk, group, sums);
  const std::int64_t column = group * grid.group_columns() + threadIdx.x;
  const bool counts = threadIdx.x < grid.group_columns() && column < grid.columns;
  if (grid.chunks == 1 && !grid.left) {
    if (counts) f.finish(column, total);
    return;
  }
  if (counts) partials[std::int64_t{chunk} * grid.columns + column] = total;
  if (grid.left || !is_last_block(finished + group, static_cast<unsigned>(grid.chunks))) return;
  const ColumnSum all = total_of_chunks(grid, group, partials, sums);
  if (counts) f.finish(column, all);
}

/// One block for a chunk of rows of a group of columns. Two fit a processor, so that a few blocks
/// more than processors take no second turn.
template <class F>
__global__ void __launch_bounds__(kColumnThreads, 2)
    columns_kernel(const __grid_constant__ F f, const __grid_constant__ ColumnGrid grid,
                   typename F::Sum* partials, std::uint32_t* finished) {
  wait_for_predecessors();
  const BlockSpan<F> span(f);
  do_columns(f, grid, partials, finished, blockIdx.x);
}

/// The same of several ColumnsCalls, each of which has numbers of its own to count blocks.
template <class Calls>
__global__ void __launch_bounds__(kColumnThreads, 2)
    sibling_columns_kernel(const __grid_constant__ Calls calls,
                           const __grid_constant__ SiblingBlocks blocks, std::uint32_t* finished) {
  wait_for_predecessors();
  const BlockSpan<Calls> span(calls);
  const unsigned own = blocks.sibling();
  const auto& call = calls[own];
  do_columns(call.f, call.grid, call.partials, finished + own * kColumnGroups, blocks.block(own));
}

// The kernels of an elementwise pass that finishes the sums of columns() before it (SettledCall): a
// block has rows of the columns of one of its groups. Each block adds up the same few sums, which
// takes less time than to wait for the one that would (docs/results/log/gpu.md, M3).

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

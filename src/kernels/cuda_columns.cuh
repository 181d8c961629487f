// The kernel of columns(): sums over rows for each column, in the order of columns.h.
//
// The time of a launch over a map of a few MB is that of what waits for something else: loads for
// loads, threads for barriers. So all loads of a strip are in flight at once, a warp adds up its
// lanes in registers, and warps and chunks are added eight at a time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "kernels/block_span.cuh"
#include "kernels/columns.h"
#include "kernels/last_block.cuh"
#include "kernels/predecessors.cuh"
#include "kernels/sibling_blocks.cuh"

namespace trainyard {

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

/// Adds the sums of a warp's threads that are `step` apart pairwise; step and K are powers of two.
/// While a thread has several columns it gives half of them for the other half of its neighbour's,
/// so that each level exchanges half of what the one before did. Returns the thread's last column,
/// whose number is added to `column`.
template <unsigned K, class Sum>
__device__ Sum fold_warp(const Sum (&sums)[K], unsigned step, unsigned& column) {
  if constexpr (K == 1) {
    Sum sum = sums[0];
    for (; step < kWarpThreads; step *= 2) sum += exchanged(sum, step);
    return sum;
  } else {
    const bool upper = (threadIdx.x & step) != 0;
    Sum half[K / 2];
#pragma unroll
    for (unsigned k = 0; k < K / 2; ++k) {
      Sum kept = sums[k], given = sums[k + K / 2];
      if (upper) {  // by assignments, which are of registers, as a choice of addresses would not be
        kept = sums[k + K / 2];
        given = sums[k];
      }
      half[k] = kept;
      half[k] += exchanged(given, step);
    }
    if (upper) column += K / 2;
    return fold_warp(half, step * 2, column);
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
#pragma unroll
  for (unsigned width = 1; width < kFoldRows; width *= 2) {
#pragma unroll
    for (unsigned i = 0; i < kFoldRows; i += 2 * width) {
      if (i + width < count) sums[i] += sums[i + width];
    }
  }
  first[0] = sums[0];
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

/// A lane's partial results of a column. Loads of 8 chunks are in flight, which are all there are
/// in most launches, since the additions depend on each other and the loads do not.
template <class Sum>
__device__ Sum add_chunks(const ColumnGrid& grid, const Sum* partials, std::int64_t column,
                          std::int64_t lane, std::int64_t lanes) {
  constexpr int kStaged = 8;
  Sum total = {};
  for (std::int64_t chunk = lane; chunk < grid.chunks; chunk += kStaged * lanes) {
    Sum staged[kStaged];
#pragma unroll
    for (int i = 0; i < kStaged; ++i) {
      const std::int64_t at = chunk + i * lanes;
      if (at < grid.chunks) staged[i] = partials[at * grid.columns + column];
    }
#pragma unroll
    for (int i = 0; i < kStaged; ++i) {
      if (chunk + i * lanes < grid.chunks) total += staged[i];
    }
  }
  return total;
}

/// The partial results of a group of columns.
template <class F>
__device__ void finish_columns(const F& f, const ColumnGrid& grid, std::int64_t group,
                               typename F::Sum* sums, const typename F::Sum* partials) {
  const auto beside = static_cast<unsigned>(grid.beside());
  const auto lanes = static_cast<unsigned>(grid.lanes()), lane = threadIdx.x / beside;
  const std::int64_t column = group * beside + threadIdx.x % beside;
  const bool counts = column < grid.columns;
  // The block's own sums in this memory are read.
  sums[threadIdx.x] = counts ? add_chunks(grid, partials, column, lane, lanes) : typename F::Sum{};
  fold_rows(sums, lanes, beside);
  if (lane == 0 && counts) f.finish(column, sums[threadIdx.x]);
}

/// The sums of a turn of the block, into the first of `sums`: one each of the group's columns.
template <class F>
__device__ void sum_turn(const F& f, const ColumnGrid& grid, std::int64_t begin, std::int64_t group,
                         typename F::Sum* sums) {
  constexpr unsigned kTogether = columns_together<F>();
  constexpr unsigned kWarps = kColumnThreads / kWarpThreads;
  static_assert(kWarps * kColumnsOfBlock <= kColumnThreads);
  const auto wide = static_cast<unsigned>(grid.wide), beside = wide * kTogether;
  unsigned within = threadIdx.x % wide * kTogether;  // the group's columns
  const std::int64_t column = group * beside + within;
  typename F::Sum strip[kTogether] = {};
  if (begin < grid.rows && column < grid.columns) {
    add_strip(f, begin, grid.end(begin), column, kTogether, strip);
  }
  const typename F::Sum warp = fold_warp(strip, wide, within);
  const unsigned lane = threadIdx.x % kWarpThreads / wide;
  if (lane < kTogether) sums[threadIdx.x / kWarpThreads * beside + within] = warp;
  fold_rows(sums, kWarps, beside);
}

/// The sums of a chunk of rows of a group of columns; the last of a group to arrive finishes it.
template <class F>
__device__ void do_columns(const F& f, const ColumnGrid& grid, typename F::Sum* partials,
                           std::uint32_t* finished, unsigned block) {
  using ColumnSum = typename F::Sum;
  alignas(16) __shared__ std::byte memory[sizeof(ColumnSum) * kColumnThreads];
  auto* const sums = reinterpret_cast<ColumnSum*>(memory);
  const auto groups = static_cast<unsigned>(grid.groups);  // divided by in 32 bits: faster
  const unsigned chunk = block / groups, group = block % groups;
  const unsigned lane = threadIdx.x / static_cast<unsigned>(grid.wide);
  ColumnSum total = {};
  for (std::int64_t turn = 0; turn < grid.turns; ++turn) {
    if (turn > 0) __syncthreads();  // the sums of the turn before are read
    sum_turn(f, grid, grid.begin(chunk, lane, turn), group, sums);
    if (threadIdx.x < grid.beside()) total += sums[threadIdx.x];
  }
  const std::int64_t column = group * grid.beside() + threadIdx.x;
  const bool counts = threadIdx.x < grid.beside() && column < grid.columns;
  if (grid.chunks == 1) {
    if (counts) f.finish(column, total);
    return;
  }
  if (counts) partials[static_cast<std::int64_t>(chunk) * grid.columns + column] = total;
  if (is_last_block(finished + group, static_cast<unsigned>(grid.chunks))) {
    finish_columns(f, grid, group, sums, partials);
  }
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

}  // namespace trainyard

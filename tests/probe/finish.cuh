// Ways to finish sums over blocks, on sums that a block has at once. A block of 256 threads is
// three quarters idle in most of them, as in a real kernel's last lines.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "finish_sums.h"
#include "launcher/cuda_columns.cuh"

namespace trainyard::probe {

inline constexpr unsigned kFinishThreads = 256;

/// Adds `count` rows of channels, as the last block of columns() does; the sum of a channel is
/// that of the thread with its number, others get zeros. `sums`: shared, of all threads.
template <int kChannels>
__device__ PairSum add_rows(const PairSum* rows, unsigned count, PairSum* sums) {
  constexpr unsigned kLanes = kFinishThreads / kChannels;
  ColumnGrid grid{};
  grid.columns = kChannels;
  grid.together = 1;
  grid.wide = kChannels;
  grid.chunks = count;
  sums[threadIdx.x] = add_chunks(grid, rows, threadIdx.x % kChannels, threadIdx.x / kChannels);
  fold_rows(sums, kLanes, kChannels);
  return threadIdx.x < kChannels ? sums[threadIdx.x] : PairSum{};
}

/// Every pattern that needs no cluster.
template <int kChannels, Finish kHow>
__global__ void __launch_bounds__(kFinishThreads, 2)
    finish_kernel(const __grid_constant__ FinishMemory memory) {
  alignas(16) __shared__ std::byte bytes[sizeof(PairSum) * kFinishThreads];
  auto* const sums = reinterpret_cast<PairSum*>(bytes);
  const unsigned channel = threadIdx.x, block = blockIdx.x;
  const bool owns = channel < kChannels;
  PairSum own = block_sum(block, channel);
  if constexpr (kHow == Finish::read_16 || kHow == Finish::read_128) {
    constexpr unsigned kRows = kHow == Finish::read_16 ? 16 : kFinishBlocks;
    const PairSum read = moments(add_rows<kChannels>(memory.before, kRows, sums), kRows);
    if (owns && block == 0) memory.results[channel] = read;
    if (read.second < 0) own.first += 1;  // never, but each block computes it
  }
  if (owns) memory.partials[block * kChannels + channel] = own;
  if constexpr (kHow == Finish::last_block) {
    if (!is_last_block(memory.counters, kFinishBlocks)) return;
    const PairSum sum = add_rows<kChannels>(memory.partials, kFinishBlocks, sums);
    if (owns) memory.results[channel] = moments(sum, kFinishBlocks);
  }
  if constexpr (kHow == Finish::last_of_8) {
    const unsigned group = block / kFinishGroup;
    if (!is_last_block(memory.counters + group, kFinishGroup)) return;
    const PairSum* const rows = memory.partials + group * kFinishGroup * kChannels;
    const PairSum sum = add_rows<kChannels>(rows, kFinishGroup, sums);
    if (owns) memory.groups[group * kChannels + channel] = sum;
  }
}

}  // namespace trainyard::probe

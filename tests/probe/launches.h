// The probe's kernels. Each of these functions enqueues one launch, on a stream of the current GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "launcher/pairwise.h"

namespace trainyard::probe {

/// When the next kernel of a chain may begin. `none`: after this one. Else both have the attribute
/// of programmatic launches, wait for their predecessor, and trigger the next one
enum class Overlap {
  none,
  before_wait,  // at once, which is wrong for kernels that read what the one before wrote
  early,        // behind the wait
  late,         // behind the work
  at_exit,      // not at all
};

/// A launch that does nothing.
struct EmptyLaunch {
  unsigned blocks = 1, threads = 32;
  Overlap overlap = Overlap::none;
  unsigned cluster = 1;  // blocks
  bool cooperative = false;
};
void launch_empty(cudaStream_t stream, const EmptyLaunch& launch);
/// The same kernel by the driver's call, as cuDNN launches its own.
void launch_by_driver(cudaStream_t stream);

/// A thread's clocks over two milliseconds of multiplications on the whole GPU.
struct ClockReading {
  std::uint64_t cycles, nanoseconds;
};
void launch_clocks(cudaStream_t stream, unsigned blocks, ClockReading* reading);

/// Copies bytes, a multiple of 16 KiB, with four loads of 16 bytes of a thread in flight.
void launch_copy(cudaStream_t stream, void* to, const void* from, std::size_t bytes);

/// How the sums of the blocks of a launch become one.
enum class Finish {
  none,          // each block writes its own
  last_block,    // the last one to arrive adds all of them
  last_of_8,     // the last one of eight adds theirs
  cluster_of_8,  // a cluster of eight blocks does, through its shared memory
  read_16,       // each block adds 16 of the launch before
  read_128,      // and all of them
};
inline constexpr unsigned kFinishBlocks = 128, kFinishGroup = 8;
struct FinishMemory {
  const PairSum* before;    // [128, channels]: the partials of the launch before
  PairSum* partials;        // [128, channels]
  PairSum* groups;          // [16, channels]
  PairSum* results;         // [channels]: mean, 1 / standard deviation
  std::uint32_t* counters;  // [16]: 0
};
/// 16 or 64 channels.
void launch_finish(cudaStream_t stream, Finish how, int channels, const FinishMemory& memory);

/// Convolutions of a map in shared memory (conv_tile.cuh), `repeats` times.
struct TileMemory {
  const void* map;      // bf16 [side + 2, side + 2, channels]: with a border
  const void* weights;  // bf16 [9, channels, channels]: taps, filters, channels
  float* sums;          // [side, side, channels]; for 64 channels two of them, of halves of a sum
};
/// 16, 32 or 64 channels; side = 512 / channels.
void launch_tile(cudaStream_t stream, int channels, unsigned blocks, int repeats,
                 const TileMemory& memory);

/// A kernel of 256 threads with nearly 128 registers, as a fused convolution has, that multiplies
/// in all of them.
struct WorkLaunch {
  unsigned blocks = 128;
  int kilobytes = 37;  // size of shared memory
  int rounds = 0;      // rounds of about 0.13 us
  Overlap overlap = Overlap::none;
  std::uint16_t* processors = nullptr;  // [blocks]: on which each ran; null: not asked for
};
void launch_work(cudaStream_t stream, const WorkLaunch& launch);
/// Its registers.
[[nodiscard]] int work_registers();

/// lane_maps.cuh.
void launch_lane_maps(cudaStream_t stream, unsigned warps, const std::uint32_t* from,
                      std::uint32_t* to);

}  // namespace trainyard::probe

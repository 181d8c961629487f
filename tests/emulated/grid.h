// Blocks of CUDA threads on the host, one block after the other. The threads of a block take turns:
// each runs until it waits for others or ends. Blocks and threads run in an order chosen by the
// test, so that a result that relies on an order is wrong in some of them. Kernels that are
// compiled with hooks also have their accesses to memory checked (accesses.h).
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "cuda_runtime_api.h"

/// The running thread's indices. Launches have one dimension.
struct ThreadIndex {
  unsigned x = 0;
};
extern ThreadIndex threadIdx, blockIdx;
/// The launch's number of blocks.
extern ThreadIndex gridDim;

namespace trainyard::emulated {

inline constexpr unsigned kWarp = 32;
/// CUDA's limits: threads per block, blocks per launch.
inline constexpr unsigned kMostThreads = 1024, kMostBlocks = 0x7fffffff;

/// The kernel did something that would hang a GPU or give undefined values.
struct Misuse : std::logic_error {
  using std::logic_error::logic_error;
};

/// The order of blocks, and of a block's threads.
enum class Turns { ascending, descending, shuffled };

/// How launches are carried out from now on.
struct Conduct {
  Turns turns = Turns::ascending;
  /// Seed of the shuffled orders.
  unsigned seed = 1;
  /// Runs only this many of a launch's last blocks, for launches too large to run whole.
  unsigned last_blocks = kMostBlocks;
  /// Whether accesses to memory are checked.
  bool checked = true;
};
void set_conduct(const Conduct& conduct);

/// Every order. A race is found in any of them, so accesses are checked in one, which saves time.
inline constexpr Conduct kConducts[] = {{.turns = Turns::ascending},
                                        {.turns = Turns::descending, .checked = false},
                                        {.turns = Turns::shuffled, .checked = false}};

/// Runs `thread` on every thread of every block. Returns, and stores as the last error, whether
/// CUDA accepts such a launch. Throws Misuse, which begins with `name` if it is about accesses.
/// `overlaps`: it may begin while launches before it run, for which its threads wait.
cudaError_t launch(unsigned blocks, unsigned threads, const std::function<void()>& thread,
                   const std::string& name = "a launch", bool overlaps = false);
/// Whether the launch before could overlap.
[[nodiscard]] bool last_launch_overlaps();
/// What kernels are compiled for from now on: 90 is Hopper's code.
void set_code(int ptx, int binary);

// For the running thread.

/// What the launches before have written may be read from here on.
void wait_for_launches();
/// What it wrote is seen before what it writes next.
void fence();
/// Counts up to `most`, then from 0 again; returns the number before.
unsigned count_up(unsigned* number, unsigned most);
void lower_to(unsigned long long* least, unsigned long long value);
void raise_to(unsigned long long* most, unsigned long long value);

/// Returns when all threads of the block have called it. If one has ended: Misuse.
void wait_for_block();
/// Returns, once all lanes in `mask` have called it with the same mask, `bits` of the lane `delta`
/// further on, or its own if the warp has no such lane. If the mask lacks that lane: Misuse.
[[nodiscard]] std::uint64_t shuffle_down(unsigned mask, std::uint64_t bits, unsigned delta);
/// The same of the lane whose number differs in the bits of `difference`, less than kWarp.
[[nodiscard]] std::uint64_t shuffle_xor(unsigned mask, std::uint64_t bits, unsigned difference);

}  // namespace trainyard::emulated

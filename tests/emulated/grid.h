// Blocks of CUDA threads on the host, one block after the other. The threads of a block take turns:
// each runs until it waits for others or ends, in an order chosen by the test, so that a result
// that relies on a missing barrier is wrong in every run, or in every run of the other order.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

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

enum class Turns { ascending, descending };

/// How launches are carried out from now on.
struct Conduct {
  Turns turns = Turns::ascending;
  /// Runs only this many of a launch's last blocks, for launches too large to run whole.
  unsigned last_blocks = kMostBlocks;
};
void set_conduct(const Conduct& conduct);

/// Runs `thread` on every thread of every block. Returns, and stores as the last error, whether
/// CUDA accepts such a launch. Throws Misuse.
cudaError_t launch(unsigned blocks, unsigned threads, const std::function<void()>& thread);

// For the running thread.

/// Returns when all threads of the block have called it. If one has ended: Misuse.
void wait_for_block();
/// Returns, once all lanes in `mask` have called it with the same mask, `bits` of the lane `delta`
/// further on, or its own if the warp has no such lane. If the mask lacks that lane: Misuse.
[[nodiscard]] std::uint64_t shuffle_down(unsigned mask, std::uint64_t bits, unsigned delta);
/// The same of the lane whose number differs in the bits of `difference`, less than kWarp.
[[nodiscard]] std::uint64_t shuffle_xor(unsigned mask, std::uint64_t bits, unsigned difference);

}  // namespace trainyard::emulated
